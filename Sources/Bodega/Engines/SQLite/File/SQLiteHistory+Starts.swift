import Foundation
import GRDB

/// Reading a collection whose log is not in the file yet, see ``SQLiteLog.Starts``.
extension SQLiteHistory {

    /// Passes on all items in parts, with the row at which the log will begin.
    ///
    /// - Returns: `nil` if the log has to be created first: the file is not small, or has changed since an earlier
    ///   start. Also `nil` on another connection than the one that writes.
    func started(
        in db: Database, _ receive: (Int, [(key: CacheKey, data: Data)]) -> Void
    ) throws -> StorageCursor? {
        guard core.isWriter(db), try isSmall(db), try !log.hasRemains(in: db) else { return nil }
        let row = try core.starts.begin(of: table.name, in: db) {
            var all: [(key: CacheKey, data: Data)] = []
            try table.readAllItems(in: db) { number, items in
                all += items
                receive(number, items)
            }
            return all
        }
        return row?.cursor
    }

    private func isSmall(_ db: Database) throws -> Bool {
        let count = try SQLiteStatement.integer("PRAGMA page_count", in: db) ?? 0
        let size = try SQLiteStatement.integer("PRAGMA page_size", in: db) ?? 0
        return count * size <= SQLiteLog.Starts.largestFile
    }

    /// Whether a cursor is the row of a start.
    func isStart(_ cursor: StorageCursor) -> Bool {
        core.starts.digest(of: table.name, at: cursor) != nil
    }

    /// Whether nothing was changed since a start, as the connection that writes sees it.
    func isUnchanged(since cursor: StorageCursor, in db: Database) throws -> Bool {
        try core.checkPlace()
        return try core.starts.current(of: table.name, in: db)?.cursor == cursor
    }

    /// Whether the items are those of a start.
    func isEqual(toStart cursor: StorageCursor, in db: Database) throws -> Bool {
        let digest = core.starts.digest(of: table.name, at: cursor)
        return try digest?.changes(to: table.allItems(in: db)).isEmpty ?? false
    }

    /// The net effect of all changes since a start that is not in the log, and the items under the written keys.
    ///
    /// - Returns: `nil` if the cursor is not the row of a start, or if there is no log.
    func changes(sinceStart request: ChangesRequest, in db: Database) throws -> StorageDelta? {
        guard let digest = core.starts.digest(of: table.name, at: request.cursor), let end = try end(in: db) else {
            return nil
        }
        let changes = digest.changes(to: try table.allItems(in: db))
        var delta = StorageDelta(changes: changes, cursor: end.cursor, isComplete: true)
        let keys = delta.keysWritten(excluding: nil)
        delta.items = try table.items(FetchRequest(keys, request.fields), in: db)
        return delta
    }
}

extension StorageDelta {
    /// No changes since a cursor.
    static func none(since cursor: StorageCursor) -> StorageDelta {
        StorageDelta(changes: [], cursor: cursor, isComplete: true)
    }
}
