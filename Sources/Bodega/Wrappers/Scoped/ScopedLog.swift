import DequeModule
import Foundation

/// The log of the items of a scope.
///
///     log of the base ──► advance ──► visible keys, latest changes ──► readers
///
/// The log of the base says which item has changed, and not what it was before. So this log knows which items are in
/// the scope, and follows the base whenever it is read:
///
/// 1. The first reader reads all items, and begins at the end of the base's log.
/// 2. Each later one first reads the changes since then, with the changed items. An item that was in the scope and is
///    no longer is removed, and one that was not and is not is not mentioned.
/// 3. The latest changes are kept for readers with earlier cursors. For older ones, and after the base's log had a gap,
///    there is a snapshot.
///
/// All readers share what was read. `state` is guarded by its lock; `lock` lets one reader advance at a time.
final class ScopedLog: StorageLog {
    fileprivate struct State {
        /// What the cursors begin with. It is another one for each place at which the log begins.
        var identifier = UUID().uuidString
        /// The place in the log of the base; `nil` before the first reader.
        var place: StorageCursor?
        /// The keys of the items in the scope at that place.
        var visible: Set<CacheKey> = []
        /// The latest changes, of which the first one has the number `first`.
        var changes: Deque<StorageChange> = []
        var first = 0

        /// The number of the next change.
        var end: Int { first + changes.count }
    }

    private let base: any StorageBackend
    private let scope: StorageScope
    private let state = Locked(State())
    private let lock = AsyncLock()

    init(base: any StorageBackend, scope: StorageScope) { (self.base, self.scope) = (base, scope) }

    /// The number of changes that are kept.
    static let capacity = 100_000

    func fetchCursor() async throws -> StorageCursor {
        try await advance()
        return state.withLock { $0.cursor }
    }

    /// The end of the base's log, if a cursor is at the end of this one; otherwise `nil`.
    func place(at cursor: StorageCursor) async throws -> StorageCursor? {
        try await advance()
        return state.withLock { $0.cursor == cursor ? $0.place : nil }
    }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        try await advance()
        return StorageAnswer(
            state.withLock { state in
                guard let number = state.number(of: request.cursor) else { return nil }
                var changes = Array(state.changes.dropFirst(number - state.first))
                if let origin = request.excluded, changes.allSatisfy({ $0.origin == origin }) { changes = [] }
                return StorageDelta(changes: changes, cursor: state.cursor, isComplete: true)
            })
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        base.log?.changeSignals(excluding: origin) ?? AsyncStream { $0.finish() }
    }

    /// Reads what the base has logged since the last time.
    private func advance() async throws {
        try await lock.withLock {
            guard let log = base.log else { throw StorageError.missingLog }
            while let place = state.withLock({ $0.place }) {
                let request = ChangesRequest(
                    since: place, needsItems: true, options: ReadOptions(omitsUnreadable: true, needsOriginal: true))
                guard let delta = try await log.fetchChanges(request).value else { break }
                let visible = Set(delta.items.lazy.filter { [scope] in scope.contains($0.data) }.map(\.key))
                state.withLock { $0.add(delta, visible: visible) }
                if delta.isComplete { return }
            }
            try await begin()
        }
    }

    /// Reads which items are in the scope.
    private func begin() async throws {
        let keys = Locked<Set<CacheKey>>([])
        let request = ScanRequest(
            needsCursor: true, options: ReadOptions(omitsUnreadable: true, needsOriginal: true))
        let answer = try await base.scan(request) { [scope] in
            keys.withLock { $0 = [] }
            return { _, item in
                if scope.contains(item.data) { keys.withLock { _ = $0.insert(item.key) } }
                return true
            }
        }
        state.withLock { state in
            state = State()
            (state.place, state.visible) = (answer.value.cursor, keys.withLock { $0 })
        }
    }
}

extension ScopedLog.State {
    var cursor: StorageCursor { StorageCursor(rawValue: "\(identifier).\(end)") }

    /// The number of the first change after a cursor, `nil` if the changes after it are not known.
    func number(of cursor: StorageCursor) -> Int? {
        let start = identifier + "."
        guard cursor.rawValue.hasPrefix(start), let number = Int(cursor.rawValue.dropFirst(start.count)),
            (first...end).contains(number)
        else { return nil }
        return number
    }

    /// Adds the changes of the base.
    ///
    /// - Parameter visible: The changed items that are in the scope now.
    mutating func add(_ delta: StorageDelta, visible now: Set<CacheKey>) {
        var removed: Set<CacheKey> = []
        for change in delta.changes {
            if now.contains(change.key) {
                // One that is written again is removed first only for readers that know it.
                if change.kind == .removed, !visible.contains(change.key) { continue }
                if change.kind == .removed { visible.remove(change.key) } else { visible.insert(change.key) }
                changes.append(change)
            } else if visible.contains(change.key), removed.insert(change.key).inserted {
                changes.append(StorageChange(key: change.key, kind: .removed, origin: change.origin))
            }
        }
        visible.subtract(removed)
        place = delta.cursor
        let surplus = changes.count - ScopedLog.capacity
        if surplus > 0 {
            changes.removeFirst(surplus)
            first += surplus
        }
    }
}
