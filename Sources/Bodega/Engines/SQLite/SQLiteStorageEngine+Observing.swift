import Foundation
import GRDB

extension SQLiteStorageEngine: StorageLog {

    public var log: (any StorageLog)? { self }

    private var history: SQLiteHistory { SQLiteHistory(of: table, in: core) }

    /// The current end of the collection's change log.
    ///
    /// The first request for a collection's changes creates a log in the file for all programs' changes.
    public func fetchCursor() async throws -> StorageCursor {
        try await begun { [history] db in try history.end(in: db)?.cursor }
    }

    /// Whether a cursor is the end of the log, on the connection that writes.
    func isEnd(_ cursor: StorageCursor, in db: Database) throws -> Bool {
        if try history.end(in: db)?.cursor == cursor { return true }
        guard history.isStart(cursor) else { return false }
        return try history.isUnchanged(since: cursor, in: db) || history.isEqual(toStart: cursor, in: db)
    }

    /// Reads all items in parts. Of a small file without a log, it creates no log before the first change, see
    /// ``SQLiteLog.Starts``.
    func readSnapshot(
        _ receive: @escaping @Sendable (Int, [(key: CacheKey, data: Data)]) -> Void
    ) async throws -> StorageCursor {
        let read: @Sendable (Database) throws -> StorageCursor? = { [history] db in
            try history.snapshot(in: db, receive) ?? history.started(in: db, receive)
        }
        if let cursor = try await core.readMany(read) { return cursor }
        if core.isAtMoment { throw SQLiteMoment.Outdated(table) }
        if core.isWritable, let cursor = try await core.readOnWriter(read) { return cursor }
        return try await begun { [history] db in try history.snapshot(in: db, receive) }
    }

    /// Reads the next changes after a cursor, without waiting for any, at most 10,000.
    ///
    /// The log keeps 100,000 changes. It records the origin of each change that an engine of this package makes, in any
    /// process. What other programs write has no origin.
    ///
    /// A store that has loaded a small file gets a cursor before the log exists. If others change the file before the
    /// first write of this engine, the answer begins with the net effect of these changes, without origins.
    ///
    /// - Returns: `nil` if the log does not reach back to the cursor, or is another one.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/placeRemoved`` if the file was removed or replaced.
    public func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        var answer = StorageAnswer(try await request.needsItems ? changesWithItems(request) : changes(request))
        if answer.value == nil {
            answer.report.isOtherLog = try await core.readMany { [history] in
                try history.isOther(request.cursor, in: $0)
            }
        }
        return answer
    }

    private func changes(_ request: ChangesRequest) async throws -> StorageDelta? {
        let delta = try await core.readMany { [history] db in
            try history.delta(since: request.cursor, excluding: request.excluded, in: db)
        }
        // The log may have to be created, or not to contain the start.
        if let delta { return delta }
        return history.isStart(request.cursor) ? try await changesWithItems(request) : nil
    }

    private func changesWithItems(_ request: ChangesRequest) async throws -> StorageDelta? {
        while true {
            if let delta = try await core.readMany({ [history] in try history.changes(request, in: $0) }) {
                return delta
            }
            guard history.isStart(request.cursor) else { return nil }
            if core.isAtMoment {
                let isEqual = try await core.readMany { [history] db in
                    try history.isEqual(toStart: request.cursor, in: db)
                }
                if isEqual { return .none(since: request.cursor) }
                throw SQLiteMoment.Outdated(table)
            }
            let isUnchanged = try await core.readOnWriter { [history] db in
                try history.isUnchanged(since: request.cursor, in: db)
            }
            if isUnchanged { return .none(since: request.cursor) }
            try await core.writeUnreported { [history] db in try history.begin(in: db) }
        }
    }

    /// Signals that there may be changes: immediately, and then after each change, or after several.
    ///
    /// Commits through the same engine or its other collections are signaled directly, other commits when the system
    /// reports changes to their files. Because a commit becomes visible only after the last reported write, the file is
    /// then checked after 1, 2, 4 milliseconds and so on, finally every two seconds. Where the system reports nothing,
    /// the file is checked every 40 milliseconds. The file is watched only while such streams exist.
    public func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        guard let origin else { return core.watch.signals(for: table) }
        return core.watch.signals(for: table, excluding: origin)
    }

    /// Reads from the log, creating it if there is none.
    private func begun<Value: Sendable>(
        _ read: @escaping @Sendable (Database) throws -> Value?
    ) async throws -> Value {
        while true {
            if let value = try await core.readMany(read) { return value }
            guard core.isWritable else { throw history.missing() }
            if core.isAtMoment { throw SQLiteMoment.Outdated(table) }
            try await core.writeUnreported { [history] db in try history.begin(in: db) }
        }
    }
}
