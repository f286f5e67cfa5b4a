public import Foundation
import GRDB

/// An engine that keeps its items in an SQLite file. The recommended engine for most programs.
///
/// ```swift
/// let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Quotes"))
/// try await engine.write(Data("Find out who you are.".utf8), key: CacheKey("dolly-parton"))
/// ```
///
/// - When a write returns, the item is durable, unless the engine was opened with ``StorageDurability/relaxed``
///   durability. Concurrent writes share one commit.
/// - A batch is atomic.
/// - Removing all items shrinks the file if little else is in it. Otherwise SQLite reuses the space, and ``vacuum()``
///   shrinks the file while other writers wait.
/// - Engines in one process or many can use the same file simultaneously. An engine that has to wait too long for
///   another throws ``StorageError/Code/locked``.
/// - If the file was removed or replaced while it was open, or a symbolic link in its path was pointed elsewhere, reads
///   and writes throw ``StorageError/Code/placeRemoved``. Close or release the engines on it in other programs before
///   you open the path again: that empties the write-ahead log, which SQLite would take for that of the file that is
///   there now. In one program, opening the path does so, or throws ``StorageError/Code/locked`` if the former file is
///   in use.
/// - While reads always overlap, SQLite's write-ahead log would grow without a limit. Above 16 MiB, new reads wait
///   until earlier ones have ended, at first for at most 0.1 seconds, so that the log can start over.
/// - The engine opens files of Bodega 2 with all their items, and Bodega 2 reads and writes files of the engine, except
///   for items under URLs, whose rows it expects under another text.
///
/// One file can hold several collections, see ``collection(named:)``.
public final class SQLiteStorageEngine: StorageBackend {

    let core: SQLiteFile
    let table: SQLiteTable
    let clock: @Sendable () -> Date
    let origin = StorageOrigin.random()
    /// Called in each transaction that changes the collection by this engine; it throws if that must not happen.
    private let checkWriting: @Sendable (Database) throws -> Void

    /// Uses an existing table.
    init(
        core: SQLiteFile, table: SQLiteTable, now: @escaping @Sendable () -> Date,
        checkingWrites checkWriting: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) {
        self.core = core
        self.table = table
        clock = now
        self.checkWriting = checkWriting
    }

    /// The location of the database file.
    public var file: URL { core.url }

    // MARK: Reading

    public func fetch(key: CacheKey) async throws -> Data? {
        try await core.readOne { [table] db in try table.value(of: key, in: db) }
    }

    /// Reads the items under several keys, at one moment.
    ///
    /// A connection that has read 1,000 or more keys at once keeps up to 64 MiB of the file's pages in memory.
    ///
    /// - Returns: The items that exist, in the order of the keys.
    /// - Throws: A ``StorageError``.
    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        if request.keys.count == 1 {
            return StorageAnswer(try await core.readOne { [table] db in try table.items(request, in: db) })
        }
        let cancellation = SQLiteCancellation()
        if request.keys.count <= 256,
            let items = await core.readShortly(
                cancellation,
                { [table] db in
                    try table.items(request, in: db, cancellation.check)
                })
        {
            return StorageAnswer(items)
        }
        return StorageAnswer(try await core.readMany { [table] db in try table.items(request, in: db) })
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await core.readMany { [table] db in try table.allItems(in: db) }
    }

    public func fetchAllData() async throws -> [Data] {
        try await core.readMany { [table] db in try table.allValues(in: db) }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await core.readMany { [table] db in try table.allKeys(in: db) }
    }

    public func fetchCount() async throws -> Int {
        try await core.readMany { [table] db in try table.count(in: db) }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await core.readOne { [table] db in try table.dates(of: key, in: db) }
    }

    // MARK: Writing

    public func write(_ data: Data, key: CacheKey) async throws {
        try await core.write(to: table, by: currentOrigin) { [table, checkWriting, date = now()] db in
            try checkWriting(db)
            try table.write(data, key: key, at: date, in: db)
        }
    }

    /// The origin of writes that have no other.
    var currentOrigin: StorageOrigin { StorageOrigin.current ?? origin }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        if let group = batch.group { return try await group.join(self, collection: table.name, batch) }
        if batch.operations.isEmpty, batch.conditions == nil, batch.basis == nil {
            return StorageAnswer(BatchOutcome())
        }
        let origin = batch.origin ?? currentOrigin
        let (wasApplied, isBehind) = (Locked(true), Locked(false))
        var batch = batch
        batch.origin = origin
        let removing = batch.heedsReferences ? SQLiteFile.Removing(batch.operations, at: now()) : nil
        let commit = try await core.write(to: table, by: origin, removing: removing) {
            [self, batch, work = work(for: batch)] db in
            let isAllowed = try allows(batch, in: db)
            wasApplied.withLock { $0 = isAllowed }
            if isAllowed { try work(db) }
            if batch.operations.count >= SQLiteSearchUpdates.largeBatch {
                let isOneBehind = try SQLiteSearchUpdates.isAnyBehind(of: table, in: db)
                isBehind.withLock { $0 = isOneBehind }
            }
        }
        guard wasApplied.withLock({ $0 }) else { return StorageAnswer(BatchOutcome(wasApplied: false)) }
        if batch.endsByRemovingAll { await core.vacuumIfQuick() }
        if isBehind.withLock({ $0 }) { core.searchUpdates.begin(table, of: core) }
        return StorageAnswer(BatchOutcome(commit: commit))
    }

    /// Returns a closure that carries out the operations of a batch, whose origin is set.
    func work(for batch: StorageBatch) -> SQLiteGroupCommit.Work {
        { [table, date = now()] db in try table.apply(batch, at: date, in: db) }
    }

    /// Whether a batch may be applied.
    func allows(_ batch: StorageBatch, in db: Database) throws -> Bool {
        try checkWriting(db)
        if let basis = batch.basis, try !isEnd(basis, in: db) { return false }
        return try batch.conditions?.allSatisfy { try table.value(of: $0.key, in: db) == $0.data } ?? true
    }

    /// The collections of the file.
    public var database: (any StorageDatabase)? { core }

    public func now() -> Date { clock() }

    public var traits: StorageTraits {
        [.atomic, .conditional, .dated, .stablePositions, .ignoresCancellation, .intersects]
    }

    // MARK: Large items

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await core.readMany { [table] db in try table.stream(of: key, in: db) }
    }

    /// Writes an item in parts. See ``StorageEngine/write(stream:key:)``.
    ///
    /// Other writers wait while a large item is copied into the database. SQLite limits an item and its key to
    /// 1,000,000,000 bytes, unless it was built otherwise; a larger one throws ``StorageError/Code/tooLarge``. In
    /// collections that were created by Bodega 2, and in those with an index, the item is in memory while it is
    /// written.
    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        // Before the transaction, as the stream may be slow.
        switch try await StreamedBytes(of: stream) {
        case .data(let data):
            return try await apply(StorageBatch([.write(key: key, data: data)]))
        case .file(let file):
            let commit = try await core.write(to: table, by: currentOrigin) { [table, checkWriting, date = now()] db in
                try checkWriting(db)
                try table.write(file, key: key, at: date, in: db)
            }
            return StorageAnswer(BatchOutcome(commit: commit))
        }
    }
}

extension StorageBatch {
    /// Whether the space of removed items is free: not when later operations write items, which would need it again.
    var endsByRemovingAll: Bool {
        if case .removeAll? = operations.last { true } else { false }
    }
}

extension SQLiteStorageEngine: SampledStorageEngine {
    /// Some of the first and of the last keys, in a time that does not depend on the number of items.
    package func fetchSomeKeys(_ count: Int) async throws -> [CacheKey] {
        try await core.readMany { [table] db in try table.someKeys(count, in: db) }
    }
}
