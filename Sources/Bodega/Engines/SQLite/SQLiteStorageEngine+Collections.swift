package import Foundation
import GRDB

extension SQLiteStorageEngine {

    /// Another collection in the same file, created if it is missing.
    ///
    /// The two share connections and commits, but no items: equal keys name different items.
    ///
    /// - Parameter name: The collection's name; any string except the empty one. Names are compared byte by byte.
    /// - Throws: A ``StorageError`` if it could not be created.
    public func collection(named name: String) throws -> SQLiteStorageEngine {
        SQLiteStorageEngine(core: core, table: try core.table(ofCollection: name), now: now)
    }

    /// An engine on the same collection that looks at an item of another one in each transaction in which it writes.
    ///
    /// - Parameters:
    ///   - key: The key of the item.
    ///   - collection: The name of the other collection, which need not exist.
    ///   - check: Receives the item, `nil` if there is none. It throws if the collection must not be changed.
    package func checkingWrites(
        byItem key: CacheKey, in collection: String, _ check: @escaping @Sendable (Data?) throws -> Void
    ) -> SQLiteStorageEngine {
        SQLiteStorageEngine(core: core, table: table, now: clock) { [core] db in
            try check(core.existingTable(ofCollection: collection, in: db)?.value(of: key, in: db))
        }
    }

    /// The names of the file's collections, in the order in which they were created, without the unnamed one.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    public func collectionNames() async throws -> [String] {
        try await core.readMany { db in try SQLiteCollections.names(in: db) }
    }

    /// Removes a collection of the file, with all of its items, its indexes and its change log, which frees the space
    /// that it takes. Does nothing if there is none of this name. The unnamed collection can't be removed.
    ///
    /// Engines that are open on the collection, in any process, throw ``StorageError/Code/placeRemoved`` from then on,
    /// also when a new collection has its name. Followers of the collection get the same error.
    ///
    /// - Parameter name: The collection's name.
    /// - Throws: A ``StorageError`` if it could not be removed; it is then unchanged.
    public func removeCollection(named name: String) async throws {
        if name.isEmpty { return }
        let found = try await core.readMany { [core] db in try core.existingTable(ofCollection: name, in: db) }
        guard let found else { return }
        let removing = SQLiteFile.Removing([.removeAll], at: now())
        try await core.write(to: found, by: currentOrigin, isLogged: false, removing: removing) { db in
            try SQLiteCollections.remove(found, in: db)
        }
        await core.vacuumIfQuick()
    }

    /// Opens a file for its named collections only, which are created when something is written to them. The engine's
    /// own collection must not be used.
    package convenience init(openingForCollections file: URL) throws {
        let core = SQLiteFile(
            url: file, durability: .full, lockTimeout: 30, SQLiteFile.Inspection(collection: ""))
        try core.openIfNeeded()
        self.init(core: core, table: .standard, now: { Date() })
    }
}
