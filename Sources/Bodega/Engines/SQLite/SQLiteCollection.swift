package import Foundation
import GRDB

/// A collection in an SQLite file, used on the caller's thread: the synchronous sibling of ``SQLiteStorageEngine``.
package final class SQLiteCollection: Sendable {

    let file: SQLiteFile
    let table: SQLiteTable
    private let origin = StorageOrigin()

    /// Uses the collection of an engine, and the engine's file.
    package init(of engine: SQLiteStorageEngine) {
        file = engine.core
        table = engine.table
    }

    /// Where the file is.
    package var url: URL { file.url }

    /// What tells collections apart, as long as one of them is there.
    package var identity: Identity { Identity(file: ObjectIdentifier(file), table: table.name) }

    /// What tells collections apart.
    package struct Identity: Hashable, Sendable {
        let file: ObjectIdentifier
        let table: String
    }

    /// Whether another collection is in the same file, which is open once for both.
    package func isInFile(of other: SQLiteCollection) -> Bool { file === other.file }

    /// Closes the file when the operations under way are done. All of its collections throw
    /// ``StorageError/Code/cannotOpen`` from then on.
    package func closeFile() throws {
        try file.close()
    }

    /// Finds out whether the file is still in its place.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if somebody has removed or replaced it.
    package func checkPlace() throws {
        try file.readOneHere { try SQLiteFile.checkPlace(in: $0) }
    }

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try file.readOneHere { db in
            try SQLiteFile.checkPlace(in: db)
            return try self.table.value(of: key, in: db)
        }
    }

    /// Whether there is an item under a key.
    package func contains(_ key: CacheKey) throws -> Bool {
        try file.readOneHere { db in
            try SQLiteFile.checkPlace(in: db)
            return try !self.table.existing(among: [key], in: db).isEmpty
        }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try file.readManyHere { db in
            try SQLiteFile.checkPlace(in: db)
            return try self.table.allItems(in: db)
        }
    }

    /// All values in insertion order.
    package func allValues() throws -> [Data] {
        try file.readManyHere { db in
            try SQLiteFile.checkPlace(in: db)
            return try self.table.allValues(in: db)
        }
    }

    /// Reads items and applies what follows from them in one transaction, and returns when it is committed.
    ///
    /// - Parameters:
    ///   - date: The date of the writes.
    ///   - body: Finds out what is to be done. It may run more than once, and must not use the file otherwise.
    ///   - committed: Is called when it is committed, in the order of the commits. It must not use the file.
    package func update(
        at date: Date,
        _ body: @escaping @Sendable (SQLiteContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        let operations = Locked<[StorageOperation]>([])
        let author = StorageOrigin.current ?? origin
        let change = SQLiteChange(table: table, origin: ObjectIdentifier(self), author: author) {
            operations.withLock { $0 }
        }
        try file.writeHere(change) { [table] db in
            let planned = try body(SQLiteContents(table: table, db: db))
            operations.withLock { $0 = planned }
        } _: { [table] db in
            try table.apply(operations.withLock { $0 }, at: date, in: db)
        } committed: {
            committed()
        }
    }

    /// Follows what others change through the same file, from now on.
    ///
    /// - Parameter tell: Is told of each commit, in their order, on the thread that commits. It must only take note.
    /// - Returns: What ends it.
    package func follow(_ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) -> @Sendable () -> Void {
        let number = file.changes.follow(table, excluding: ObjectIdentifier(self), tell)
        return { [file, table] in file.changes.unfollow(table, number) }
    }
}

/// The items of a collection inside of a transaction, for ``SQLiteCollection/update(at:_:committed:)``.
package struct SQLiteContents {
    let table: SQLiteTable
    let db: Database

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try table.value(of: key, in: db)
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try table.allItems(in: db)
    }
}
