import Foundation
import GRDB

/// The change log of a collection, as engines read it.
struct SQLiteHistory: Sendable {
    let core: SQLiteFile
    let table: SQLiteTable
    let log: SQLiteLog

    init(of table: SQLiteTable, in core: SQLiteFile) {
        self.core = core
        self.table = table
        self.log = table.log
    }

    /// Creates the log inside of a transaction, unless another writer has created it in the meantime.
    func begin(in db: Database) throws {
        if try !log.isComplete(in: db) || log.end(in: db) == nil { try create(in: db) }
        if let end = try log.end(in: db) {
            try core.starts.join(table.name, at: end, in: db) { try table.allItems(in: db) }
        }
    }

    private func create(in db: Database) throws {
        switch try table.condition(in: db) {
        case .complete: break
        // Another program may have recreated the table without the column that Bodega 2 lacks.
        case .incomplete: try table.create(in: db)
        case .missing:
            if table.isOfCollection, try !SQLiteCollections.contains(table, in: db) {
                throw StorageError.collectionRemoved
            }
            // A new one would make the lost items look like none.
            throw StorageError(.damaged, "Another program has removed the table. Restore a backup.")
        }
        try log.begin(from: try core.starts.use(of: table.name, in: db), in: db)
    }

    /// The error to throw where there is no log and none can be created.
    func missing() -> StorageError {
        let message =
            "The file has no change log of the collection, and it was opened for reading only. Follow the collection "
            + "once with an engine that can write."
        return StorageError(.readOnly, message, file: core.url)
    }

    /// The end of the log, `nil` if there is no log.
    func end(in db: Database) throws -> SQLiteLog.Row? {
        try core.checkPlace()
        // A file that is only read may have been replaced by another one, so the result is not cached.
        let exists = try core.isWritable ? core.logs.exists(log, in: db) : log.isComplete(in: db)
        return exists ? try log.end(in: db) : nil
    }

    /// Passes on all items in parts, see ``SQLiteStorageEngine/readSnapshot(_:)``.
    ///
    /// - Returns: The end of the log, `nil` if there is no log.
    func snapshot(
        in db: Database, _ receive: (Int, [(key: CacheKey, data: Data)]) -> Void
    ) throws -> StorageCursor? {
        guard let end = try end(in: db) else { return nil }
        try table.readAllItems(in: db, receive)
        return end.cursor
    }

    /// The next changes after a cursor, `nil` if the log does not contain its row.
    func delta(since cursor: StorageCursor, excluding origin: StorageOrigin?, in db: Database) throws -> StorageDelta? {
        guard let row = SQLiteLog.Row(cursor), let end = try end(in: db) else { return nil }
        guard try log.has(row, in: db) else {
            guard let junction = core.starts.junction(of: table.name, at: row),
                try log.has(junction.row, in: db)
            else { return nil }
            let cursor = junction.row.cursor
            if junction.changes.isEmpty { return try delta(since: cursor, excluding: origin, in: db) }
            return StorageDelta(changes: junction.changes, cursor: cursor, isComplete: junction.row == end)
        }
        guard row.number < end.number else { return StorageDelta(changes: [], cursor: cursor, isComplete: true) }
        if let origin, try !log.hasChanges(after: row, notOf: origin, in: db) {
            return StorageDelta(changes: [], cursor: end.cursor, isComplete: true)
        }
        guard let part = try log.changes(after: row, in: db) else { return nil }
        return StorageDelta(changes: part.changes, cursor: part.last.cursor, isComplete: part.last == end)
    }

    /// Whether a cursor without changes after it is from another log.
    ///
    /// It is not known of a row that the log has trimmed.
    func isOther(_ cursor: StorageCursor, in db: Database) throws -> Bool {
        guard let row = SQLiteLog.Row(cursor) else { return !cursor.isOfScope }
        guard let end = try end(in: db) else { return true }
        if row.number > end.number { return true }
        return try log.nonce(of: row.number, in: db).map { $0 != row.nonce } ?? false
    }

    /// All changes after a cursor, and the items under the keys that other origins have written; `nil` if the log does
    /// not contain the cursor's position.
    func changes(_ request: ChangesRequest, in db: Database) throws -> StorageDelta? {
        guard var all = try delta(since: request.cursor, excluding: request.excluded, in: db) else {
            return try changes(sinceStart: request, in: db)
        }
        while !all.isComplete {
            guard let next = try delta(since: all.cursor, excluding: nil, in: db) else { return nil }
            all.append(next)
        }
        let keys = all.keysWritten(for: request)
        all.items = try table.items(FetchRequest(keys, request.fields), in: db)
        return all
    }
}
