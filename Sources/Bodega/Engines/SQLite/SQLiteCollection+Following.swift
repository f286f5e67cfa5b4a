package import Foundation
import GRDB

/// The changes of a collection from one position in its log to another, and the items at the second one.
package struct SQLiteCollectionUpdate: Sendable {

    /// A change in the log.
    package struct Change: Sendable {
        package let key: CacheKey
        /// Whether it was committed through the same file, so that followers know it.
        package let isReported: Bool
    }

    /// The changes in their order, `nil` if the log does not reach back.
    package let changes: [Change]?
    /// The existing items under the written keys. If the log does not reach back, all items in insertion order.
    package let items: [(key: CacheKey, data: Data)]
    /// The position that is reached.
    package let cursor: StorageCursor
}

extension SQLiteCollection {

    /// Reads the changes of all writers.
    ///
    /// It blocks commits through the same file, and all earlier ones have been reported to followers. So a follower
    /// knows which changes are new to it, and in which order.
    ///
    /// - Parameters:
    ///   - cursor: The position after which to begin.
    ///   - receive: Receives the changes. It must return quickly.
    package func readUpdate(since cursor: StorageCursor, _ receive: (SQLiteCollectionUpdate) -> Void) throws {
        let writer = try core.writable().writer
        try withTable { table in
            try core.mapped {
                try writer.writeWithoutTransaction { db in
                    try db.inTransaction(.deferred) {
                        receive(try update(since: cursor, of: table, in: db))
                        return .commit
                    }
                }
            }
        }
    }

    private func update(
        since cursor: StorageCursor, of table: SQLiteTable, in db: Database
    ) throws -> SQLiteCollectionUpdate {
        let history = SQLiteHistory(of: table, in: core)
        // Another writer may have removed the log.
        if try history.end(in: db) == nil { try history.begin(in: db) }
        let (changes, items, end) = try changedItems(since: cursor, of: table, in: db)
        let reported = core.observers.takeReported(of: table, by: ObjectIdentifier(self))
        let first = (SQLiteLogPosition(cursor)?.number ?? 0) + 1
        let known = changes?.enumerated().map { offset, change in
            SQLiteCollectionUpdate.Change(key: change.key, isReported: reported.contains(first + offset))
        }
        return SQLiteCollectionUpdate(changes: known, items: items, cursor: end)
    }

    /// Reads all items, and the keys of those changed since a log position; all keys if the log does not reach back.
    package func allItems(
        since cursor: StorageCursor
    ) throws -> (items: [(key: CacheKey, data: Data)], changed: Set<CacheKey>) {
        try withTable { table in
            try core.readManyHere { db in
                let (changes, items, _) = try changedItems(since: cursor, of: table, in: db)
                guard let changes else { return (items, Set(items.map(\.key))) }
                return (try table.allItems(in: db), Set(changes.map(\.key)))
            }
        }
    }

    /// The changes after a position and the items under the written keys; all items if the log does not reach back.
    private func changedItems(
        since cursor: StorageCursor, of table: SQLiteTable, in db: Database
    ) throws -> (changes: [StorageChange]?, items: [(key: CacheKey, data: Data)], end: StorageCursor) {
        let history = SQLiteHistory(of: table, in: core)
        guard let end = try history.end(in: db) else { throw history.missing() }
        if let all = try history.changedItems(since: cursor, excluding: nil, in: db) {
            return (all.delta.changes, all.items, all.delta.cursor)
        }
        return (nil, try table.allItems(in: db), end.cursor)
    }
}
