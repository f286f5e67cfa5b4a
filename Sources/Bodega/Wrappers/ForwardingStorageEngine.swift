public import Foundation

/// An engine that forwards its calls to another engine, and may act before and after each of them, or instead.
///
/// ```swift
/// struct PrintingEngine<Base: StorageEngine>: ForwardingStorageEngine {
///     let base: Base
///
///     func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
///         print(call.operation, call.count)
///         return try await body()
///     }
/// }
///
/// extension PrintingEngine: DatedStorageEngine where Base: DatedStorageEngine {}
/// extension PrintingEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
/// extension PrintingEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
/// ```
///
/// The three extensions pass on capabilities that not every engine has. Omit those that your engine does not keep.
///
/// The engine has the order, the atomicity and the dates of its ``base``. Its `read…` methods log the errors that they
/// cannot report, like those of each ``ThrowingStorageEngine``.
public protocol ForwardingStorageEngine: ThrowingStorageEngine, PartiallyReadableStorageEngine {
    /// The type of the other engine.
    associatedtype Base: StorageEngine

    /// The engine that the calls are forwarded to.
    var base: Base { get }

    /// Performs a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - body: Calls the method of ``base``. It can be called several times, or not at all; but the one that writes a
    ///     stream once only, unless the stream's bytes are in a file or in memory.
    /// - Returns: The result of the call.
    /// - Throws: The error of the call.
    func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value
}

// Writing.
extension ForwardingStorageEngine {

    public func write(_ data: Data, key: CacheKey) async throws {
        try await forward(StorageCall(.write, .item(key, data))) { try await base.write(data, key: key) }
    }

    public func write(stream: StorageByteStream, key: CacheKey) async throws {
        try await forward(StorageCall(.writeStream, .stream(key, stream))) {
            try await base.write(stream: stream, key: key)
        }
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        try await forward(StorageCall(.writeMany, .items(dataAndKeys))) { try await base.write(dataAndKeys) }
    }

    public func remove(key: CacheKey) async throws {
        try await forward(StorageCall(.remove, .key(key))) { try await base.remove(key: key) }
    }

    public func remove(keys: [CacheKey]) async throws {
        try await forward(StorageCall(.removeKeys, .keys(keys))) { try await base.remove(keys: keys) }
    }

    public func removeAllData() async throws {
        try await forward(StorageCall(.removeAll)) { try await base.removeAllData() }
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        try await forward(StorageCall(.apply, .operations(operations))) { try await base.apply(operations) }
    }
}

// Reading.
extension ForwardingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await forward(StorageCall(.fetch, .key(key))) { try await base.fetch(key: key) }
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await forward(StorageCall(.fetchStream, .key(key))) { try await base.fetchStream(key: key) }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await forward(StorageCall(.fetchMany, .keys(keys))) { try await base.fetch(keys: keys) }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await forward(StorageCall(.fetchAll)) { try await base.fetchAll() }
    }

    public func fetchAllData() async throws -> [Data] {
        try await forward(StorageCall(.fetchAllData)) { try await base.fetchAllData() }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await forward(StorageCall(.fetchKeys)) { try await base.fetchKeys() }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await forward(StorageCall(.fetchKeysAmong, .keys(candidates))) {
            try await base.fetchKeys(among: candidates)
        }
    }

    public func fetchCount() async throws -> Int {
        try await forward(StorageCall(.fetchCount)) { try await base.fetchCount() }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await forward(StorageCall(.fetchDates, .key(key))) { try await base.fetchDates(key: key) }
    }
}

// The members of a DatedStorageEngine.
extension ForwardingStorageEngine where Base: DatedStorageEngine {

    /// Reads several items together with their dates. See ``DatedStorageEngine/fetchItems(keys:)``.
    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        try await forward(StorageCall(.fetchItems, .keys(keys))) { try await base.fetchItems(keys: keys) }
    }

    /// Reads the dates of all items, without the items. See ``DatedStorageEngine/fetchAllDates()``.
    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await forward(StorageCall(.fetchAllDates)) { try await base.fetchAllDates() }
    }

    /// Writes several items with their dates. See ``DatedStorageEngine/write(items:)``.
    public func write(items: [StorageItem]) async throws {
        try await forward(StorageCall(.writeItems, .datedItems(items))) { try await base.write(items: items) }
    }
}

// The member of a ConditionalStorageEngine.
extension ForwardingStorageEngine where Base: ConditionalStorageEngine {

    /// Applies operations if items are in the expected state. See ``ConditionalStorageEngine/apply(_:if:)``.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        try await forward(StorageCall(.applyIf, .operations(operations))) {
            try await base.apply(operations, if: conditions)
        }
    }
}

// The members of an ObservableStorageEngine.
extension ForwardingStorageEngine where Self: ObservableStorageEngine, Base: ObservableStorageEngine {

    /// Returns the cursor at the end of the log. See ``ObservableStorageEngine/fetchCursor()``.
    public func fetchCursor() async throws -> StorageCursor {
        try await forward(StorageCall(.fetchCursor)) { try await base.fetchCursor() }
    }

    /// Reads all items and the cursor at that moment. See ``ObservableStorageEngine/fetchSnapshot()``.
    public func fetchSnapshot() async throws -> StorageSnapshot {
        try await forward(StorageCall(.fetchSnapshot)) { try await base.fetchSnapshot() }
    }

    /// Reads the next changes after a cursor. See ``ObservableStorageEngine/fetchChanges(since:excluding:)``.
    public func fetchChanges(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        try await forward(StorageCall(.fetchChanges)) {
            try await base.fetchChanges(since: cursor, excluding: origin)
        }
    }

    /// Reads all changes after a cursor, and the items under the changed keys. See
    /// ``ObservableStorageEngine/fetchChangedItems(since:excluding:)``.
    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])? {
        try await forward(StorageCall(.fetchChangedItems)) {
            try await base.fetchChangedItems(since: cursor, excluding: origin)
        }
    }

    /// Returns a stream that signals possible changes. See ``ObservableStorageEngine/changeSignals()``.
    public func changeSignals() -> AsyncStream<Void> { base.changeSignals() }
}
