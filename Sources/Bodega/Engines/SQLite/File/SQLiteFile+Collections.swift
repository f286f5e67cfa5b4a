import Foundation
import GRDB

extension SQLiteFile {

    /// The table of a named collection, `nil` if there is none.
    ///
    /// - Throws: An error with `SQLITE_CORRUPT` if the register of collections is damaged, so that a collection can be
    ///   missing in it.
    func existingTable(ofCollection name: String, in db: Database) throws -> SQLiteTable? {
        try registeredTable(name, in: db).flatMap { try $0.exists(in: db) ? $0 : nil }
    }

    /// The table that the register has for a named collection, which may not exist.
    private func registeredTable(_ name: String, in db: Database) throws -> SQLiteTable? {
        if let table = try SQLiteCollections.table(of: name, in: db) { return table }
        // Once, because it takes time for all names.
        if hasCheckedCollections.withLock({ $0 }) { return nil }
        try SQLiteCollections.check(in: db)
        hasCheckedCollections.withLock { $0 = true }
        return nil
    }

    /// The table of a named collection, created if it is new.
    func table(ofCollection name: String) throws -> SQLiteTable {
        guard !name.isEmpty else {
            throw StorageError(.invalidArgument, "The name of a collection must not be empty.", file: url)
        }
        return try mapped {
            guard isWritable else {
                let found = try blockingReadMany { try existingTable(ofCollection: name, in: $0) }
                if let found { return found }
                throw StorageError(.cannotOpen, "The database has no collection \"\(name)\".")
            }
            @Sendable func find(in db: Database) throws -> SQLiteTable? {
                try registeredTable(name, in: db).flatMap { try $0.isComplete(in: db) ? $0 : nil }
            }
            if let transaction {
                return try transaction.nested { db in try find(in: db) ?? SQLiteCollections.create(name, in: db) }
            }
            // After a collection was created, a reading connection parses the whole schema again, which would make
            // creating many of them quadratic. The connection that created it doesn't.
            if !hasCreatedCollections.withLock({ $0 }), let found = try blockingReadMany(find) { return found }
            return try DatabaseError.retryingWhileLocked(url.path, for: lockTimeout) {
                let (writer, commits) = try blockingWritable()
                return try use(writer) { db in
                    if let found = try find(in: db) { return found }
                    let table = try db.transaction(.immediate) {
                        try commits.place.check()
                        return try SQLiteCollections.create(name, in: db)
                    }
                    hasCreatedCollections.withLock { $0 = true }
                    return table
                }
            }
        }
    }
}
