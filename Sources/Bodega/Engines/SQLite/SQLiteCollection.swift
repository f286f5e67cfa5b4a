package import Foundation
import GRDB

/// A collection in an SQLite file with a synchronous interface, the counterpart of ``SQLiteStorageEngine``.
///
/// A collection that is referred to by its name need not exist. Reading and following it create nothing; writing
/// creates it, also after another program has removed it.
package final class SQLiteCollection: Sendable {

    let core: SQLiteFile
    /// The collection's name, `nil` if it is the one of an engine.
    private let name: String?

    /// The collection's table, `nil` until it is found, and after it was found to have been removed.
    private let found: Locked<SQLiteTable?>
    let origin = StorageOrigin.random()

    /// Uses the collection of an engine, and the engine's file.
    package init(of engine: SQLiteStorageEngine) {
        (core, name, found) = (engine.core, nil, Locked(engine.table))
    }

    /// Refers to a collection in the file of an engine by its name, which must not be empty.
    package init(named name: String, in engine: SQLiteStorageEngine) {
        (core, self.name, found) = (engine.core, name, Locked(nil))
    }

    /// The location of the file.
    package var url: URL { core.url }

    /// Identifies the collection while an instance for it exists.
    package var identity: Identity {
        Identity(core: ObjectIdentifier(core), name: name, table: name == nil ? knownTable?.name : nil)
    }

    /// Identifies a collection.
    package struct Identity: Hashable, Sendable {
        let core: ObjectIdentifier
        let name: String?
        let table: String?
    }

    /// Whether the collection uses the open file of an engine.
    package func isInFile(of engine: SQLiteStorageEngine) -> Bool { core === engine.core }

    /// Closes the file when the operations in progress are done. All of its collections throw
    /// ``StorageError/Code/closed`` from then on.
    ///
    /// - Throws: ``StorageError/Code/locked`` if a thread has a transaction.
    package func closeFile() throws {
        try core.closeUnlessInTransaction()
    }

    /// Checks that the file is still at its path.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if it was removed or replaced.
    package func checkPlace() throws {
        try core.mapped { try core.checkPlace() }
    }

    // MARK: The table

    private var knownTable: SQLiteTable? {
        get {
            if let transaction = core.transaction, let noted = transaction.table(insteadOf: found) { return noted }
            return found.withLock { $0 }
        }
        set {
            if let transaction = core.transaction { return transaction.note(newValue, insteadOf: found) }
            found.withLock { $0 = newValue }
        }
    }

    /// The table in a transaction, `nil` if the collection does not exist.
    func currentTable(in db: Database) throws -> SQLiteTable? {
        if let name { return try core.existingTable(ofCollection: name, in: db) }
        return try knownTable.flatMap { try $0.exists(in: db) ? $0 : nil }
    }

    /// Runs a closure with the table, which is created if it is missing.
    ///
    /// - Throws: An error with ``StorageError/isOfRemovedCollection`` if the table was removed. The next call creates
    ///   one.
    func withTable<Result>(_ body: (SQLiteTable) throws -> Result) throws -> Result {
        let table = try createdTable()
        do {
            return try body(table)
        } catch let error as StorageError where name != nil && error.isOfRemovedCollection {
            forget(table)
            throw error
        }
    }

    private func createdTable() throws -> SQLiteTable {
        if let table = knownTable { return table }
        let table = try core.table(ofCollection: name ?? "")
        knownTable = table
        return table
    }

    /// Forgets a table that was removed.
    private func forget(_ table: SQLiteTable) {
        if let transaction = core.transaction { return transaction.note(nil, insteadOf: found) }
        found.withLock { found in
            if found?.name == table.name { found = nil }
        }
    }

    /// Returns a closure that reads from the table, or returns a value if there is none. The closure returns `nil` if
    /// the table was removed after it was found, and has to run again.
    private func reading<Value>(
        orElse absent: Value, _ body: @escaping (SQLiteTable) -> (Database) throws -> Value
    ) -> (Database) throws -> Value? {
        { [self] db in
            var table = knownTable
            if table == nil, let name {
                table = try core.existingTable(ofCollection: name, in: db)
                knownTable = table
            }
            guard let table else { return absent }
            do {
                return try body(table)(db)
            } catch let error as DatabaseError where name != nil && error.isOfRemovedCollection {
                forget(table)
                return nil
            }
        }
    }

    private func readOne<Value>(
        orElse absent: Value, _ body: @escaping (SQLiteTable) -> (Database) throws -> Value
    ) throws -> Value {
        let read = reading(orElse: absent, body)
        while true { if let value = try core.blockingReadOne(read) { return value } }
    }

    private func readMany<Value>(
        orElse absent: Value, _ body: @escaping (SQLiteTable) -> (Database) throws -> Value
    ) throws -> Value {
        let read = reading(orElse: absent, body)
        while true { if let value = try core.blockingReadMany(read) { return value } }
    }

    // MARK: Items

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try readOne(orElse: nil) { table in { try table.value(of: key, in: $0) } }
    }

    /// Whether there is an item under a key.
    package func contains(_ key: CacheKey) throws -> Bool {
        try readOne(orElse: false) { table in { try !table.existing(among: [key], in: $0).isEmpty } }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try readMany(orElse: []) { $0.allItems }
    }

    /// All values in insertion order.
    package func allValues() throws -> [Data] {
        try readMany(orElse: []) { $0.allValues }
    }

    /// Runs a closure in a transaction of the file, in which all operations of the thread on its collections take part.
    /// Within another transaction of the thread, it is a part of that.
    ///
    /// - Parameter body: The closure. It runs once, on the calling thread.
    /// - Throws: The error of the closure, or a ``StorageError``. Nothing is changed then.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try core.blockingTransaction(body)
    }

    /// Whether the calling thread has a transaction of the file.
    package var isInTransaction: Bool { core.transaction != nil }

    /// Atomic read-modify-write: reads items, applies operations based on them, and returns after the commit.
    ///
    /// - Parameters:
    ///   - date: The date of the writes.
    ///   - place: Returns the place that a follower has reached, `nil` if there is none. It may run more than once.
    ///   - body: Determines the operations. It may run more than once, and must not use the file otherwise.
    ///   - committed: Called when they are committed, in the order of the commits. It must not use the file.
    package func update(
        at date: Date,
        since place: @escaping @Sendable () -> SQLiteFollowedState? = { nil },
        _ body: @escaping @Sendable (SQLiteContents) throws -> [StorageOperation],
        committed: @escaping @Sendable (SQLiteOwnChange) -> Void
    ) throws {
        while true {
            do {
                return try withTable { table in
                    try change(table, at: date, since: place, isLogged: true) { contents, change in
                        change.operations = try body(contents)
                    } _: { db, batch in
                        try table.apply(batch, at: date, in: db)
                    } committed: {
                        committed($0)
                    }
                }
            } catch let error as StorageError where name != nil && error.isOfRemovedCollection {
                // Each time, another writer has removed the collection.
            }
        }
    }

    /// Removes the collection with all of its items. The unnamed collection of an engine stays, without items.
    ///
    /// - Parameters:
    ///   - place: Returns the place that a follower has reached, `nil` if there is none. It may run more than once.
    ///   - committed: Called when the items are gone, in the order of the commits. It must not use the file.
    package func remove(
        since place: @escaping @Sendable () -> SQLiteFollowedState? = { nil },
        _ committed: @escaping @Sendable (SQLiteOwnChange) -> Void
    ) throws {
        // Only to find it: a collection that does not exist is not created.
        _ = try readOne(orElse: true) { $0.isEmpty }
        guard let table = knownTable else { return committed(SQLiteOwnChange()) }
        do {
            let date = Date()
            try change(table, at: date, since: place, isLogged: !table.isOfCollection) { contents, change in
                change.removed = try contents.allItems()
                change.operations = [.removeAll]
            } _: { db, batch in
                if table.isOfCollection { return try SQLiteCollections.remove(table, in: db) }
                try table.apply(batch, at: date, in: db)
            } committed: {
                committed($0)
            }
        } catch let error as StorageError where error.isOfRemovedCollection {
            committed(SQLiteOwnChange())
        }
        if name != nil { forget(table) }
    }

    private func change(
        _ table: SQLiteTable,
        at date: Date,
        since place: @escaping @Sendable () -> SQLiteFollowedState?,
        isLogged: Bool,
        planning plan: @escaping @Sendable (SQLiteContents, inout SQLiteOwnChange) throws -> Void,
        _ work: @escaping @Sendable (Database, StorageBatch) throws -> Void,
        committed: @escaping @Sendable (SQLiteOwnChange) -> Void
    ) throws {
        let origin = StorageOrigin.current ?? origin
        let planned = Locked(SQLiteOwnChange())
        let removing = SQLiteFile.Removing({ planned.withLock { $0.operations } }, at: date)
        // The changes before it were read with the last change in the same transaction.
        let last = core.transaction?.place(insteadOf: found)
        try core.blockingWrite(to: table, by: origin, isLogged: isLogged, removing: removing) { [self] db in
            var change = SQLiteOwnChange()
            change.earlier = try place().flatMap { try changes(since: last ?? $0, creatingLog: true, in: db) }
            try plan(SQLiteContents(table: table, db: db), &change)
            planned.withLock { [change] in $0 = change }
        } _: { db in
            try work(db, StorageBatch(planned.withLock { $0.operations }, origin: origin))
        } committed: { commit in
            var change = planned.withLock { $0 }
            if let commit { change.place = SQLiteFollowedState(end: (table, commit.after)) }
            committed(change)
        }
        if let transaction = core.transaction, let commit = transaction.lastCommit {
            transaction.note(SQLiteFollowedState(end: (table, commit.after)), insteadOf: found)
        }
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
