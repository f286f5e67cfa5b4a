package import Foundation
import GRDB

/// What has changed in a collection from one place in its history to another, and what is stored there then.
package struct SQLiteCollectionUpdate: Sendable {
    /// The changes in their order, `nil` if the history does not reach back.
    package let changes: [StorageChange]?
    /// The items under the keys that were written, as far as they exist; all items if the history does not reach back. In insertion order then.
    package let items: [(key: CacheKey, data: Data)]
    /// The place that is reached.
    package let cursor: StorageCursor
}

extension SQLiteCollection {

    /// Reads what has changed, whoever has changed it.
    ///
    /// Nothing is committed through the same file meanwhile, and those who follow that have been told of all that was. So
    /// they can tell what is news to them, and in which order.
    ///
    /// - Parameters:
    ///   - cursor: The place in the history.
    ///   - receive: Is told. It must only take note.
    package func readNews(since cursor: StorageCursor, _ receive: (SQLiteCollectionUpdate) -> Void) throws {
        file.authorship.keep(table)
        let pool = try file.writable().pool
        try file.mapped {
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.deferred) {
                    receive(try news(since: cursor, in: db))
                    return .commit
                }
            }
        }
    }

    /// Reads all items, and the keys of those that have changed since a place in the history; of all of them if it does not
    /// reach back.
    package func allItems(
        since cursor: StorageCursor
    ) throws -> (items: [(key: CacheKey, data: Data)], changed: Set<CacheKey>) {
        try file.readManyHere { db in
            let news = try news(since: cursor, in: db)
            let items = news.changes == nil ? news.items : try table.allItems(in: db)
            return (items, Set(news.changes?.map(\.key) ?? items.map(\.key)))
        }
    }

    private func news(since cursor: StorageCursor, in db: Database) throws -> SQLiteCollectionUpdate {
        let history = SQLiteHistory(of: table, in: file)
        guard let end = try history.end(in: db) else { throw history.missing() }
        if let news = try history.changedItems(since: cursor, excluding: nil, in: db) {
            return SQLiteCollectionUpdate(changes: news.changes, items: news.items, cursor: news.cursor)
        }
        return SQLiteCollectionUpdate(changes: nil, items: try table.allItems(in: db), cursor: end.cursor)
    }
}
