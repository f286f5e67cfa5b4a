import Foundation

/// The logs of scopes of one collection, for which its log is read once.
///
///     log of the base ──► advance ──► routes ──► visible keys, latest changes of each scope ──► readers
///
/// The log of the base says which item has changed, and not what it was before. So each log here knows which items are
/// in its scope, and follows the base whenever one of them is read:
///
/// 1. The first reader of a log reads all items, and then what has changed since then.
/// 2. Each later one first reads the changes of the base, with the changed items, for the logs of all scopes. An item
///    that was in a scope and is no longer is removed from it, and one that was not and is not is not mentioned.
///    ``ScopeRoutes`` finds the scopes of an item. A reader that has waited for a read that began after its call does
///    not read again.
/// 3. The latest changes are kept for readers with earlier cursors. For older ones, and after the base's log had a gap,
///    there is a snapshot.
/// 4. While there are listeners, a task reads the base after its signals, and signals to the logs that have changed.
///
/// `state` is guarded by its lock; `lock` lets one reader advance at a time.
package final class ScopedLogs: Sendable {
    private let base: any StorageBackend
    private let state = Locked(State())
    private let lock = AsyncLock()

    package init(base: any StorageBackend) { self.base = base }

    deinit { state.withLock { $0.task }?.cancel() }

    /// The number of changes that are kept for each scope.
    static let capacity = 100_000

    /// Returns an engine for a scope, whose log is one of these.
    package func engine(for scope: StorageScope) -> ScopedStorageEngine {
        ScopedStorageEngine(base: base, scope: scope, log: ScopedLog(logs: self, scope: scope))
    }

    /// The number of a new log.
    func add() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.logs[state.lastNumber] = Log()
            return state.lastNumber
        }
    }

    func remove(_ number: Int) {
        // Released after the lock.
        let log = state.withLock { $0.remove(number) }
        log?.signals?.finish()
    }

    /// Reads from a log. A copy of it would be copied whole by the next change.
    func withLog<Value>(_ number: Int, _ body: (Log) -> Value) -> Value {
        state.withLock { body($0.logs[number] ?? Log()) }
    }

    /// The place in the log of the base, if a cursor is at the end of a log; otherwise `nil`.
    func place(of number: Int, at cursor: StorageCursor) -> StorageCursor? {
        state.withLock { $0.logs[number]?.cursor == cursor ? $0.place : nil }
    }

    func isFollowing(_ number: Int) -> Bool { state.withLock { $0.logs[number]?.isFollowing ?? false } }

    /// Reads what the base has logged since the last time.
    func advance() async throws {
        let earlier = state.withLock { $0.begun }
        try await lock.withLock {
            if state.withLock({ $0.complete > earlier }) { return }
            try await read()
        }
    }

    /// Reads what the base has logged, while the lock is held.
    private func read() async throws {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        while let place = state.withLock({ $0.place }) {
            guard let delta = try await changes(since: place) else {
                send(state.withLock { $0.endAll() })
                break
            }
            let routes = state.withLock { $0.routes }
            var visible: [CacheKey: Set<Int>] = [:]
            for item in delta.items { visible[item.key] = routes.scopes(of: item.data) }
            send(state.withLock { [visible] in $0.add(delta, visible: visible) })
            if delta.isComplete { break }
        }
        state.withLock { $0.complete = number }
    }

    private func changes(since place: StorageCursor) async throws -> StorageDelta? {
        guard let log = base.log else { throw StorageError.missingLog }
        let options = ReadOptions(omitsUnreadable: true, needsOriginal: true)
        return try await log.fetchChanges(ChangesRequest(since: place, needsItems: true, options: options)).value
    }

    private func send(_ signals: Signals) {
        for signal in signals { signal.signals.send(changeBy: signal.origin) }
    }

    // MARK: Snapshots

    /// Whether a log knows that an item is in its scope, so that it will say when the item leaves the scope.
    func isVisible(_ key: CacheKey, in number: Int) -> Bool {
        state.withLock { $0.logs[number]?.visible.contains(key) ?? false }
    }

    /// Logs that items are not in a scope any more, of which a snapshot has been read since its cursor.
    ///
    /// Such an item can have entered and left the scope between two reads of the base's log, which then does not
    /// mention it.
    ///
    /// - Parameter keys: The keys of the items that were not known to be in the scope when the snapshot had them.
    func noteThoseGone(among keys: Set<CacheKey>, in number: Int) async throws {
        if keys.isEmpty { return }
        try await advance()
        send(state.withLock { $0.addRemovals(of: keys, in: number) })
    }

    // MARK: Beginning

    /// Reads which items are in a scope, and lets its log follow from then on.
    func begin(_ number: Int, _ scope: StorageScope) async throws {
        while true {
            // All items, while others go on reading changes.
            let (start, found) = try await scan(scope)
            let hasBegun = try await lock.withLock {
                var (place, visible, isComplete) = (start, found, false)
                while !isComplete {
                    guard let delta = try await changes(since: place) else { return false }
                    visible.subtract(delta.changes.lazy.map(\.key))
                    visible.formUnion(delta.items.lazy.filter { scope.contains($0.data) }.map(\.key))
                    (place, isComplete) = (delta.cursor, delta.isComplete)
                }
                state.withLock { [place, visible] state in
                    state.begin(number, scope, visible: visible)
                    state.place = state.place ?? place
                }
                // The others may be at an earlier place.
                try await read()
                return true
            }
            if hasBegun { return }
        }
    }

    private func scan(_ scope: StorageScope) async throws -> (StorageCursor, Set<CacheKey>) {
        let keys = Locked<Set<CacheKey>>([])
        let request = ScanRequest(
            needsCursor: true, options: ReadOptions(omitsUnreadable: true, needsOriginal: true))
        let answer = try await base.scan(request) {
            keys.withLock { $0 = [] }
            return { _, item in
                if scope.contains(item.data) { keys.withLock { _ = $0.insert(item.key) } }
                return true
            }
        }
        guard let cursor = answer.value.cursor else { throw StorageError.missingLog }
        return (cursor, keys.withLock { $0 })
    }

    // MARK: Signals

    func signals(of number: Int, excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        state.withLock { state in
            let signals = state.logs[number]?.signals ?? ChangeSignals(silenced: { [weak self] in self?.stop() })
            state.logs[number]?.signals = signals
            if !(state.logs[number]?.isFollowing ?? true) { state.waiting.insert(number) }
            let stream = signals.stream(excluding: origin)
            if state.task == nil {
                state.task = Task { [base, weak self] in
                    guard let log = base.log else { return }
                    for await _ in log.changeSignals(excluding: nil) { await self?.advanceForListeners() }
                    if !Task.isCancelled { self?.finishSignals() }
                }
            }
            return stream
        }
    }

    /// Stops after the last listener.
    private func stop() {
        let task = state.withLock { state -> Task<Void, Never>? in
            // Another one may have come.
            if state.areHeard { return nil }
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }

    private func advanceForListeners() async {
        do {
            try await advance()
            // Logs that do not follow can't know whether a change concerns them.
            send(state.withLock { $0.signals(of: $0.waiting) })
        } catch {
            // The readers find the same error.
            send(state.withLock { $0.signals(of: $0.logs.keys) })
        }
    }

    private func finishSignals() {
        for (signals, _) in state.withLock({ $0.signals(of: $0.logs.keys) }) { signals.finish() }
    }
}
