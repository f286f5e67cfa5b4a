import GRDB

extension SQLiteStorageEngine: QueryableStorageEngine {

    public func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        _ = try await count([], reading: scans, begin)
    }

    public func count(
        _ counted: [StorageScan], reading scans: [StorageScan],
        _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int {
        // An error of the receiver is passed on as it is.
        let failure = Locked<(any Error)?>(nil)
        let count = try await core.readUntilCancelled { [table] db, cancellation in
            failure.withLock { $0 = nil }
            let count = try counted.reduce(0) { try $0 + table.count($1, upTo: .max, in: db) }
            do {
                let receive = try begin()
                for (number, scan) in scans.enumerated() {
                    try table.scan(scan, in: db) { entry in
                        // Decoding can take longer than reading.
                        try cancellation.check()
                        do {
                            return try receive(number, entry)
                        } catch {
                            failure.withLock { $0 = error }
                            throw error
                        }
                    }
                }
            } catch {
                if failure.withLock({ $0 }) == nil { throw error }
            }
            return count
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return count
    }

    public func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        if keys.count == 1 {
            return try await core.readOne { [table] db in try table.entries(of: keys, index: index, in: db) }
        }
        return try await core.readMany { [table] db in try table.entries(of: keys, index: index, in: db) }
    }

    public func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int {
        try await core.readUntilCancelled { [table] db, _ in try table.count(scan, upTo: limit, in: db) }
    }

    public func fetchIndexes() async throws -> Set<StorageIndex> {
        // Few rows, on the caller's thread.
        try await core.readOne { [table] db in try SQLiteIndex.all(of: table, in: db) }
    }

    /// Creates an index, unless it exists. Other writers wait while SQLite reads all items, about a second for 300,000
    /// items.
    ///
    /// Programs with other libraries, such as Bodega 2, keep the index up to date when they write, and can write any
    /// bytes. A large item is in memory while it is written to a collection with an index.
    ///
    /// If the task is cancelled before the index is complete, this throws a `CancellationError` and changes nothing.
    public func createIndex(_ index: StorageIndex) async throws {
        let index = try SQLiteIndex(index, of: table)
        try await core.writeUntilCancelled { [table] db in
            if try SQLiteIndex.all(of: table, in: db).contains(index.index) { return }
            // One of another version of this package.
            try db.execute(sql: "DROP INDEX IF EXISTS \(index.name)")
            try db.execute(sql: index.definition)
        }
    }

    public func removeIndex(_ index: StorageIndex) async throws {
        let index = try SQLiteIndex(index, of: table)
        try await core.writeUnreported { db in try db.execute(sql: "DROP INDEX IF EXISTS \(index.name)") }
    }
}
