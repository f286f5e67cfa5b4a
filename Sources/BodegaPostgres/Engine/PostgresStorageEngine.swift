#if Postgres
public import Bodega
public import Foundation

/// An engine that stores its items in a PostgreSQL database, for programs on many machines.
///
/// ```swift
/// let engine = try await PostgresStorageEngine(connecting: "postgres://app@db.example.com/notes", collection: "notes")
/// try await engine.write(Data("Find out who you are.".utf8), key: CacheKey("dolly-parton"))
/// ```
///
/// - When a write returns, the server has committed it, as durably as the server is configured.
/// - A batch is atomic, and no read sees a part of one. Concurrent batches have the effect of some serial order.
/// - While the server can't be reached, an operation waits for it, and then throws
///   ``/Bodega/StorageError/Code/unreachable``. A write repeated after an unknown outcome is not applied twice, and a
///   write that threw is not applied later. If the outcome can't be determined, the error says so, and the next write
///   to the collection waits until it is known.
/// - Dates are stored to the millisecond.
///
/// Several engines on one database share connections, see ``PostgresDatabase``.
public final class PostgresStorageEngine: StorageBackend {

    /// The database of the collection.
    public let database: PostgresDatabase

    /// The name of the collection.
    public let collectionName: String

    let number: Int32
    let shards: ShardHash
    private let clock: @Sendable () -> Date
    /// The origin of changes through this engine.
    let origin = StorageOrigin()

    init(database: PostgresDatabase, name: String, number: Int32, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.collectionName = name
        self.number = number
        clock = now
        shards = ShardHash(collection: name)
    }

    /// Connects to a database, and creates its tables and the collection if they are missing.
    ///
    /// - Parameters:
    ///   - connectionString: A URL such as `postgres://app@db.example.com/notes`, or another form, see
    ///     ``PostgresDatabase/init(connecting:options:)``.
    ///   - collection: The collection's name, which must not be empty.
    ///   - options: The options of the database.
    ///   - now: Returns the current time, for the dates of the items.
    /// - Throws: A ``/Bodega/StorageError`` if the database could not be reached or opened. Errors contain no password.
    public convenience init(
        connecting connectionString: String,
        collection: String,
        options: PostgresDatabase.Options = PostgresDatabase.Options(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws {
        let database = try await PostgresDatabase(connecting: connectionString, options: options)
        let engine = try await database.collection(named: collection, now: now)
        self.init(database: database, name: collection, number: engine.number, now: now)
    }

    /// Returns another collection of the same database, which is created if it is missing.
    ///
    /// The two share connections, but no items: equal keys name different items.
    ///
    /// - Parameter name: The collection's name, which must not be empty.
    /// - Throws: A ``/Bodega/StorageError`` if it could not be created.
    public func collection(named name: String) async throws -> PostgresStorageEngine {
        try await database.collection(named: name, now: clock)
    }

    /// Closes the connections of the database, for all engines that share them; see ``PostgresDatabase/close()``.
    public func close() async { await database.close() }

    public func now() -> Date { clock() }

    public var traits: StorageTraits { [.atomic, .conditional, .dated, .stablePositions] }

    // MARK: Reading

    public func fetch(key: CacheKey) async throws -> Data? {
        let found: Data?? = try await read(ItemStatements.sharedData, key) { rows in
            rows.bytes(0, 1) == nil ? nil : try rows.data(0, 1)
        }
        guard let data = found, data == nil else { return found ?? nil }
        let read = Command(ItemStatements.data, parameters(for: key))
        let rows = try await database.reading(key: key) { try await $0.run(read) }
        return try value(rows, key) { try $0.data(0, 0) }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        StorageAnswer(try await items(request))
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await scan(.data) { row in (try row.key(), try row.data()) }
    }

    public func fetchAllData() async throws -> [Data] {
        try await scan(.data, withKeys: false) { row in try row.data() }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await scan([]) { row in try row.key() }
    }

    public func fetchCount() async throws -> Int {
        let count = try await database.reading { try await self.count($0) }
        if count == 0 { try await checkExistence() }
        return count
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await read(ItemStatements.dates, key) { try $0.dates(0, 0) }
    }

    // MARK: Writing

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        if let group = batch.group { return try await group.join(self, collection: number, batch) }
        if let (change, key) = singleChange(of: batch) {
            try await apply(change, key: key, by: batch.origin)
            return StorageAnswer(BatchOutcome())
        }
        let isApplied = try await database.apply(BatchTransaction([part(batch, isShared: false)]))
        if batch.operations.count >= SearchUpdates.largeBatch { database.searchUpdates.begin(number) }
        // Others have logged a change.
        if !isApplied || batch.operations.isEmpty, batch.conditions != nil || batch.basis != nil {
            try await checkExistence(isAtMoment: false)
        }
        return StorageAnswer(BatchOutcome(wasApplied: isApplied))
    }

    /// The change of a batch of one item, which is one statement, and the key of the item; `nil` for other batches.
    private func singleChange(of batch: StorageBatch) -> (Change, key: CacheKey)? {
        guard batch.operations.count == 1, batch.conditions?.isEmpty ?? true, batch.basis == nil, batch.dates.isEmpty
        else { return nil }
        switch batch.operations[0] {
        case .write(let key, let data):
            let date = ItemDate.number(of: now())
            return (.one(.init(key: ItemKey(key, in: shards), data: data, created: date, updated: date)), key)
        case .remove(let key): return (.removal(ItemKey(key, in: shards)), key)
        case .removeAll: return nil
        }
    }

    // MARK: Helpers

    func parameters(for key: CacheKey) -> Parameters {
        let key = ItemKey(key, in: shards)
        return Parameters(capacity: key.bytes.count + 6, key.shard, number, key.bytes)
    }

    /// Reads a value of one item, `nil` if there is no item.
    ///
    /// - Throws: ``/Bodega/StorageError/Code/placeRemoved`` if the collection was removed.
    private func read<Value>(
        _ statement: Statement, _ key: CacheKey, _ value: (QueryResult) throws -> Value
    ) async throws -> Value? {
        try self.value(try await database.read(Command(statement, parameters(for: key)), key: key), key, value)
    }

    private func value<Value>(
        _ result: QueryResult, _ key: CacheKey, _ value: (QueryResult) throws -> Value
    ) throws -> Value? {
        if result.count == 0 { return nil }
        if result.bytes(0, 0) == nil { throw StorageError.collectionRemoved }
        do {
            return try value(result)
        } catch {
            throw StorageError.postgres(error, key: key)
        }
    }
}

extension PostgresStorageEngine: SampledStorageEngine {
    /// Some keys, without reading all.
    package func fetchSomeKeys(_ count: Int) async throws -> [CacheKey] {
        let rows = try await database.read(Command(ItemStatements.someKeys, number, Int64(count)))
        if rows.count == 0 { try await checkExistence() }
        return try (0..<rows.count).compactMap { try rows.bytes($0, 0).map(ItemKey.key) }
    }
}

extension PostgresStorageEngine {

    /// The collection of an address without a collection.
    public static let unnamedCollection = "default"

    /// Connects to the database at an address.
    ///
    /// ```swift
    /// let address = try StorageAddress(parsing: "postgres://app@db.example.com/notes#drafts")
    /// let engine = try await PostgresStorageEngine(address)
    /// ```
    ///
    /// - Parameters:
    ///   - address: The address. Without a collection, it refers to ``unnamedCollection``.
    ///   - options: The options of the database.
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/invalidArgument`` if the address is that of
    ///   another engine, or an error of ``init(connecting:collection:options:now:)``.
    public convenience init(
        _ address: StorageAddress,
        options: PostgresDatabase.Options = PostgresDatabase.Options()
    ) async throws {
        guard let url = address.connectionURL else {
            throw StorageError(
                .invalidArgument, "\(address) is not a PostgreSQL database. Open it with StorageAddress.open().")
        }
        try await self.init(connecting: url, collection: address.collection ?? Self.unnamedCollection, options: options)
    }
}
#endif
