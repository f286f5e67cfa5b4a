import GRDB

extension SQLiteStorageEngine: CommitReportingStorageEngine {

    private var history: SQLiteHistory { SQLiteHistory(of: table, in: core) }

    /// The place in the history that is reached now.
    ///
    /// The first time that anybody asks for the history of a collection, a log of its changes is begun in the file, which
    /// the changes of all programs go to from then on.
    public func fetchCursor() async throws -> StorageCursor {
        try await begun { [history] db in try history.end(in: db)?.cursor }
    }

    /// Reads all items, in insertion order, with the place in the history at that moment. See ``fetchCursor()``.
    public func fetchSnapshot() async throws -> StorageSnapshot {
        try await begun { [history] db in try history.snapshot(in: db) }
    }

    /// Reads the next changes after a place in the history, without waiting for any, 10,000 at most.
    ///
    /// The log keeps 100,000 changes. What other processes have written has no origin, nor has what this process wrote
    /// before it asked for the history for the first time.
    ///
    /// - Parameters:
    ///   - cursor: The place.
    ///   - origin: Who need not hear of what nobody but himself has changed.
    /// - Returns: `nil` if the history does not reach back to the cursor, or is another one.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/placeRemoved`` if somebody has removed or replaced the file.
    public func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws
        -> StorageDelta?
    {
        try await keep()
        return try await core.readMany { [history] db in try history.delta(since: cursor, excluding: origin, in: db) }
    }

    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageChangedItems? {
        try await keep()
        return try await core.readMany { [history] db in
            try history.changedItems(since: cursor, excluding: origin, in: db)
        }
    }

    /// Signals that there may be changes: once at once, and then after each change, or after several.
    ///
    /// Commits of this process are told at once, those of others when the system tells of their files. Because a commit
    /// can be seen only after the last write that the system tells of, the file is then looked at after 1, 2, 4
    /// milliseconds and so on, and every two seconds in the end. Where the system tells nothing, it is looked at every 40
    /// milliseconds. All this is done only as long as there are such streams.
    public func changeSignals() -> AsyncStream<Void> {
        core.watch.signals(for: table)
    }

    package func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void> {
        core.watch.signals(for: table, excluding: origin)
    }

    /// Makes sure that it is known who in this process writes what.
    private func keep() async throws {
        guard history.keep() else { return }
        do {
            try await core.writeUnfollowed { _ in }
            try history.waited(.success(()))
        } catch {
            try history.waited(.failure(error))
        }
    }

    /// Reads from the history, beginning it if there is none.
    private func begun<Value: Sendable>(
        _ read: @escaping @Sendable (Database) throws -> Value?
    ) async throws -> Value {
        try await keep()
        while true {
            if let value = try await core.readMany(read) { return value }
            guard case .pool = core.connections else { throw history.missing() }
            try await core.writeUnfollowed { [history] db in try history.begin(in: db) }
        }
    }
}
