/// The log of the items of a scope, see ``ScopedLogs``.
final class ScopedLog: StorageLog {
    let logs: ScopedLogs
    private let scope: StorageScope
    private let number: Int
    private let beginning = AsyncLock()

    init(logs: ScopedLogs, scope: StorageScope) {
        (self.logs, self.scope) = (logs, scope)
        number = logs.add()
    }

    deinit { logs.remove(number) }

    func fetchCursor() async throws -> StorageCursor {
        try await advance()
        return logs.withLog(number) { $0.cursor }
    }

    /// The end of the base's log, if a cursor is at the end of this one; otherwise `nil`.
    func place(at cursor: StorageCursor) async throws -> StorageCursor? {
        try await advance()
        return logs.place(of: number, at: cursor)
    }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        try await advance()
        return StorageAnswer(
            logs.withLog(number) { log in
                guard var changes = log.changes(since: request.cursor) else { return nil }
                if let origin = request.excluded, changes.allSatisfy({ $0.origin == origin }) { changes = [] }
                return StorageDelta(changes: changes, cursor: log.cursor, isComplete: true)
            })
    }

    /// See ``ScopedLogs/isVisible(_:in:)``.
    func isVisible(_ key: CacheKey) -> Bool { logs.isVisible(key, in: number) }

    /// See ``ScopedLogs/noteThoseGone(among:in:)``.
    func noteThoseGone(among keys: Set<CacheKey>) async throws {
        try await logs.noteThoseGone(among: keys, in: number)
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        logs.signals(of: number, excluding: origin)
    }

    /// Reads what the base has logged since the last time.
    private func advance() async throws {
        try await logs.advance()
        if logs.isFollowing(number) { return }
        try await beginning.withLock {
            if !logs.isFollowing(number) { try await logs.begin(number, scope) }
        }
    }
}
