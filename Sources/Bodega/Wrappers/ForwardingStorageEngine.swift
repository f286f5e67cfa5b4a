public import Foundation

/// An engine that forwards its calls to another engine, and may act before and after each of them, or instead.
///
/// ```swift
/// struct PrintingEngine: ForwardingStorageEngine {
///     let base: any StorageBackend
///
///     func forward<Value>(
///         _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
///     ) async throws -> StorageAnswer<Value> {
///         print(call.operation, call.count)
///         return try await body()
///     }
/// }
///
/// let engine = PrintingEngine(base: MemoryStorageEngine().backend)
/// ```
///
/// The engine can do what its ``base`` can: its log, its indexes and its traits are those of the base, and calls of
/// them are forwarded, too. To hide one of them, implement it, for example as `nil`.
///
/// A wrapper that keeps data, such as a cache, reads through ``StorageBackend/fetch(_:)``, whose answer says whether it
/// comes from a copy, and forgets the items that a ``StorageReport`` names as evicted.
public protocol ForwardingStorageEngine: StorageBackend {

    /// The engine that the calls are forwarded to.
    var base: any StorageBackend { get }

    /// Performs a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - body: Calls the method of ``base``. It can be called several times, or not at all; but the one that writes a
    ///     stream once only, unless the stream's bytes are in a file or in memory.
    /// - Returns: The answer to the call.
    /// - Throws: The error of the call.
    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value>
}

extension ForwardingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await forward(.fetchOne(key)) { StorageAnswer(try await base.fetch(key: key)) }.value
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        try await forward(.fetch(request)) { try await base.fetch(request) }
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await forward(.scan(request)) { try await base.scan(request, begin) }
    }

    /// Reads all items with one call of the base, which may be faster than a scan.
    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        var items: [(key: CacheKey, data: Data)] = []
        _ = try await forward(.scan(ScanRequest())) {
            items = try await base.fetchAll()
            return StorageAnswer(ScanOutcome(byteCount: items.reduce(0) { $0 + $1.data.count }))
        }
        return items
    }

    public func fetchAllData() async throws -> [Data] { try await fetchAll().map(\.data) }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await forward(.fetchStream(key)) { StorageAnswer(try await base.fetchStream(key: key)) }.value
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        try await forward(.apply(batch)) { try await base.apply(batch) }
    }

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try await forward(.applyStream(key, stream)) { try await base.apply(stream, key: key) }
    }

    public var log: (any StorageLog)? { base.log.map { ForwardedLog(engine: self, base: $0) } }

    public var indexes: (any StorageIndexes)? { base.indexes.map { ForwardedIndexes(engine: self, base: $0) } }

    public var database: (any StorageDatabase)? { base.database }

    public var references: (any StorageReferences)? {
        base.references.map { ForwardedReferences(engine: self, base: $0) }
    }

    public var traits: StorageTraits { base.traits }

    public func now() -> Date { base.now() }

    public func examine() async throws -> [StorageFinding] { try await base.examine() }
}

private struct ForwardedLog: StorageLog {
    let engine: any ForwardingStorageEngine
    let base: any StorageLog

    func fetchCursor() async throws -> StorageCursor {
        try await engine.forward(.fetchCursor) { StorageAnswer(try await base.fetchCursor()) }.value
    }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        try await engine.forward(.fetchChanges(request)) { try await base.fetchChanges(request) }
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> { base.changeSignals(excluding: origin) }
}

private struct ForwardedIndexes: StorageIndexes {
    let engine: any ForwardingStorageEngine
    let base: any StorageIndexes

    func fetchIndexes() async throws -> Set<StorageIndex> {
        try await engine.forward(.fetchIndexes) { StorageAnswer(try await base.fetchIndexes()) }.value
    }

    func createIndex(_ index: StorageIndex) async throws { try await createIndex(index) { _, _ in } }

    func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        _ = try await engine.forward(.createIndex(index)) {
            try await base.createIndex(index, progress: progress)
            return StorageAnswer(StorageDone())
        }
    }

    func removeIndex(_ index: StorageIndex) async throws {
        _ = try await engine.forward(.removeIndex(index)) {
            try await base.removeIndex(index)
            return StorageAnswer(StorageDone())
        }
    }
}

private struct ForwardedReferences: StorageReferences {
    let engine: any ForwardingStorageEngine
    let base: any StorageReferences

    func fetchReferences() async throws -> [StorageReference] {
        var references: [StorageReference] = []
        _ = try await engine.forward(.fetchReferences) {
            references = try await base.fetchReferences()
            return StorageAnswer(StorageDone())
        }
        return references
    }

    func isReferenced() async throws -> Bool {
        var isReferenced = true
        _ = try await engine.forward(.fetchReferences) {
            isReferenced = try await base.isReferenced()
            return StorageAnswer(StorageDone())
        }
        return isReferenced
    }

    func declareReferences(_ references: [StorageReference]) async throws {
        _ = try await engine.forward(.declareReferences(references)) {
            try await base.declareReferences(references)
            return StorageAnswer(StorageDone())
        }
    }
}
