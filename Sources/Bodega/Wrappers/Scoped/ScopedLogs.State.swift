import DequeModule
import Foundation

extension ScopedLogs {

    /// What the logs of all scopes know.
    struct State {
        /// The place in the log of the base up to which all logs that follow know the changes; `nil` if none follows.
        var place: StorageCursor?
        var logs: [Int: Log] = [:]
        var lastNumber = 0
        /// The scopes of the logs that follow.
        var routes = ScopeRoutes()
        /// The logs that have an item in their scopes at the place.
        var viewers: [CacheKey: Set<Int>] = [:]
        /// The logs that have listeners and do not follow.
        var waiting: Set<Int> = []
        /// The number of reads of the base's log that have begun, and the last one that is complete.
        var (begun, complete) = (0, 0)
        /// Follows the signals of the base for listeners.
        var task: Task<Void, Never>?

        var areHeard: Bool { logs.values.contains { $0.signals?.areHeard ?? false } }

        func signals(of numbers: some Sequence<Int>) -> Signals {
            numbers.compactMap { number in logs[number]?.signals.map { ($0, nil) } }
        }
    }

    /// The log of one scope.
    struct Log {
        /// What the cursors begin with. It is another one for each place at which the log begins.
        var identifier = StorageCursor.scopePrefix + UUID().uuidString
        /// Whether the log knows which items are in the scope.
        var isFollowing = false
        /// The keys of the items in the scope.
        var visible: Set<CacheKey> = []
        /// The latest changes, of which the first one has the number `first`.
        var changes: Deque<StorageChange> = []
        var first = 0
        var signals: ChangeSignals?

        /// The number of the next change.
        var end: Int { first + changes.count }

        var cursor: StorageCursor { StorageCursor(rawValue: "\(identifier).\(end)") }
    }

    /// Signals to send after the lock was released.
    typealias Signals = [(signals: ChangeSignals, origin: StorageOrigin?)]
}

extension ScopedLogs.Log {
    /// The changes after a cursor; `nil` if they are not known.
    func changes(since cursor: StorageCursor) -> [StorageChange]? {
        let start = identifier + "."
        guard cursor.rawValue.hasPrefix(start), let number = Int(cursor.rawValue.dropFirst(start.count)),
            (first...end).contains(number)
        else { return nil }
        return Array(changes.dropFirst(number - first))
    }

    mutating func add(_ change: StorageChange) {
        if change.kind == .removed { visible.remove(change.key) } else { visible.insert(change.key) }
        changes.append(change)
        guard changes.count > ScopedLogs.capacity else { return }
        changes.removeFirst()
        first += 1
    }
}

extension ScopedLogs.State {

    /// Adds changes of the base to the logs of those scopes that they concern.
    ///
    /// - Parameter visible: The logs in whose scopes the changed items are now.
    mutating func add(_ delta: StorageDelta, visible: [CacheKey: Set<Int>]) -> ScopedLogs.Signals {
        var origins: [Int: Set<StorageOrigin?>] = [:]
        for change in delta.changes {
            let now = visible[change.key] ?? []
            for number in now {
                add(change, to: number)
                origins[number, default: []].insert(change.origin)
            }
            for number in viewers[change.key] ?? [] where !now.contains(number) {
                add(StorageChange(key: change.key, kind: .removed, origin: change.origin), to: number)
                origins[number, default: []].insert(change.origin)
            }
        }
        place = delta.cursor
        return origins.compactMap { number, origins in
            logs[number]?.signals.map { ($0, origins.count == 1 ? origins.first ?? nil : nil) }
        }
    }

    private mutating func add(_ change: StorageChange, to number: Int) {
        guard logs[number]?.isFollowing ?? false else { return }
        // One that is written again is removed first only for readers that know it.
        if change.kind == .removed, !(logs[number]?.visible.contains(change.key) ?? false) { return }
        logs[number]?.add(change)
        if change.kind == .removed {
            removeViewer(number, change.key)
        } else {
            viewers[change.key, default: []].insert(number)
        }
    }

    /// Adds the removals of those items that are not in the scope of a log.
    mutating func addRemovals(of keys: Set<CacheKey>, in number: Int) -> ScopedLogs.Signals {
        guard logs[number]?.isFollowing ?? false, var log = logs.removeValue(forKey: number) else { return [] }
        defer { logs[number] = log }
        let gone = keys.subtracting(log.visible)
        for key in gone { log.add(StorageChange(key: key, kind: .removed, origin: nil)) }
        guard !gone.isEmpty, let signals = log.signals else { return [] }
        return [(signals, nil)]
    }

    /// Lets a log begin with the items that are in its scope. It may know of later changes than those up to the place:
    /// it gets them once more then.
    mutating func begin(_ number: Int, _ scope: StorageScope, visible: Set<CacheKey>) {
        let signals = logs[number]?.signals
        logs[number] = ScopedLogs.Log(isFollowing: true, visible: visible, signals: signals)
        for key in visible { viewers[key, default: []].insert(number) }
        routes.add(scope, number)
        waiting.remove(number)
    }

    /// Ends all logs: the base does not know the changes after the place.
    mutating func endAll() -> ScopedLogs.Signals {
        (place, routes, viewers) = (nil, ScopeRoutes(), [:])
        for (number, log) in logs { logs[number] = ScopedLogs.Log(signals: log.signals) }
        waiting = Set(logs.keys)
        return signals(of: logs.keys)
    }

    mutating func remove(_ number: Int) -> ScopedLogs.Log? {
        guard let log = logs.removeValue(forKey: number) else { return nil }
        for key in log.visible { removeViewer(number, key) }
        routes.remove(number)
        waiting.remove(number)
        if !logs.values.contains(where: \.isFollowing) { place = nil }
        return log
    }

    private mutating func removeViewer(_ number: Int, _ key: CacheKey) {
        viewers[key]?.remove(number)
        if viewers[key]?.isEmpty ?? false { viewers[key] = nil }
    }
}
