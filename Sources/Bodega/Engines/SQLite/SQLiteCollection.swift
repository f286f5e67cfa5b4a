package import Foundation
import GRDB

/// A collection in an SQLite file with a synchronous interface, the counterpart of ``SQLiteStorageEngine``.
package final class SQLiteCollection: Sendable {

    let core: SQLiteFile
    let table: SQLiteTable
    private let origin = StorageOrigin()

    /// Uses the collection of an engine, and the engine's file.
    package init(of engine: SQLiteStorageEngine) {
        core = engine.core
        table = engine.table
    }

    /// The location of the file.
    package var url: URL { core.url }

    /// Identifies the collection while an instance for it exists.
    package var identity: Identity { Identity(core: ObjectIdentifier(core), table: table.name) }

    /// Identifies a collection.
    package struct Identity: Hashable, Sendable {
        let core: ObjectIdentifier
        let table: String
    }

    /// Whether another collection uses the same open file.
    package func isInFile(of other: SQLiteCollection) -> Bool { core === other.core }

    /// Closes the file when the operations in progress are done. All of its collections throw
    /// ``StorageError/Code/closed`` from then on.
    package func closeFile() throws {
        try core.close()
    }

    /// Checks that the file is still at its path.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if it was removed or replaced.
    package func checkPlace() throws {
        try core.mapped { try core.checkPlace() }
    }

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try core.readOneHere { try table.value(of: key, in: $0) }
    }

    /// Whether there is an item under a key.
    package func contains(_ key: CacheKey) throws -> Bool {
        try core.readOneHere { try !table.existing(among: [key], in: $0).isEmpty }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try core.readManyHere(table.allItems)
    }

    /// All values in insertion order.
    package func allValues() throws -> [Data] {
        try core.readManyHere(table.allValues)
    }

    /// Atomic read-modify-write: reads items, applies operations based on them, and returns after the commit.
    ///
    /// - Parameters:
    ///   - date: The date of the writes.
    ///   - body: Determines the operations. It may run more than once, and must not use the file otherwise.
    ///   - committed: Called when they are committed, in the order of the commits. It must not use the file.
    package func update(
        at date: Date,
        _ body: @escaping @Sendable (SQLiteContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        let operations = Locked<[StorageOperation]>([])
        let origin = StorageOrigin.current ?? origin
        let change = SQLiteChange(table: table, writer: ObjectIdentifier(self), origin: origin) {
            operations.withLock { $0 }
        }
        try core.writeHere(change) { [table] db in
            let planned = try body(SQLiteContents(table: table, db: db))
            operations.withLock { $0 = planned }
        } _: { [table] db in
            try table.apply(operations.withLock { $0 }, at: date, by: origin, in: db)
        } committed: {
            committed()
        }
    }

    /// Observes what other collections and engines change through the same file, from now on.
    ///
    /// - Parameter observer: Receives the effects of each commit, in the order of the commits, on the thread that
    ///   commits. It must return quickly.
    /// - Returns: A closure that ends the observation.
    package func follow(_ observer: @escaping @Sendable ([SQLiteEffect]) -> Void) -> @Sendable () -> Void {
        let number = core.observers.add(to: table, excluding: ObjectIdentifier(self), observer)
        return { [core, table] in core.observers.remove(from: table, number) }
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
