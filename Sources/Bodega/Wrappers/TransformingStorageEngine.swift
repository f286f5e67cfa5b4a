public import Foundation

/// An engine that keeps its items in another engine, in another form or under other keys.
///
/// ```swift
/// struct CompressedEngine<Base: StorageEngine>: TransformingStorageEngine {
///     let base: Base
///
///     func encode(_ data: Data, key: CacheKey) throws -> Data { try compress(data) }
///     func decode(_ stored: Data, key: CacheKey) throws -> Data? { try decompress(stored) }
/// }
///
/// extension CompressedEngine: DatedStorageEngine where Base: DatedStorageEngine {}
/// extension CompressedEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
/// extension CompressedEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
/// ```
///
/// The three extensions pass on capabilities that not every engine has.
///
/// The engine has the order, the atomicity and the dates of its ``base``. Its `read…` methods log the errors that they
/// cannot report, like those of each ``ThrowingStorageEngine``.
public protocol TransformingStorageEngine: ThrowingStorageEngine, PartiallyReadableStorageEngine {
    /// The type of the engine that keeps the items.
    associatedtype Base: StorageEngine

    /// The engine that keeps the items.
    var base: Base { get }

    /// Returns the bytes that the base keeps for an item.
    ///
    /// - Parameters:
    ///   - data: The item.
    ///   - key: The item's key.
    /// - Throws: A ``StorageError`` if the item can't be transformed. It is then not written, nor are others of its
    ///   batch.
    func encode(_ data: Data, key: CacheKey) throws -> Data

    /// Returns an item.
    ///
    /// - Parameters:
    ///   - stored: The bytes that the base keeps for the item.
    ///   - key: The item's key.
    /// - Returns: The item; `nil` if there is none any more, for example because it has expired. Then also implement
    ///   the methods that return keys, dates or the number of items.
    /// - Throws: An error if the bytes are not those of an item. A call that reads several items then throws it as a
    ///   ``StorageError`` with the key. A store reports the item, and reads all others, see
    ///   ``PartiallyReadableStorageEngine``.
    func decode(_ stored: Data, key: CacheKey) throws -> Data?

    /// Returns the key under which the base keeps an item; by default, the item's key.
    ///
    /// - Parameter key: The item's key. Different keys need different stored keys.
    func storedKey(_ key: CacheKey) -> CacheKey

    /// Returns the key of the item that the base keeps under a key; by default, the same.
    ///
    /// - Parameter key: A key of the base.
    /// - Returns: The item's key; `nil` if it is not an item of this engine.
    func key(ofStored key: CacheKey) -> CacheKey?

    /// Whether all items of the base are items of this engine; by default, `true`. Otherwise, methods that count or
    /// remove all items read all keys of the base first.
    var ownsAllItems: Bool { get }
}

extension TransformingStorageEngine {
    public func storedKey(_ key: CacheKey) -> CacheKey { key }

    public func key(ofStored key: CacheKey) -> CacheKey? { key }

    public var ownsAllItems: Bool { true }
}

// What the base keeps, and back.
extension TransformingStorageEngine {

    /// Performs a call of the base. The wrappers around this one learn which items it removes on its own, and an error
    /// names an item by its key instead of the stored one.
    func callBase<Value>(needsOriginal: Bool = false, _ body: () async throws -> Value) async throws -> Value {
        do {
            if InnerCall.current == nil, !needsOriginal { return try await body() }
            if self is any ItemExpiringEngine { InnerCall.current?.canLoseItems(by: .expiry) }
            let call = InnerCall(needsOriginal: needsOriginal, outerKey: { key(ofStored: $0) })
            return try await call(body)
        } catch var error as StorageError {
            // An item of the base alone keeps its name.
            if let key = error.key.flatMap(key(ofStored:)) { error.key = key }
            throw error
        }
    }

    func item(_ stored: (key: CacheKey, data: Data)) throws -> (key: CacheKey, data: Data)? {
        guard let key = key(ofStored: stored.key) else { return nil }
        return try decodeItem(stored.data, key: key).map { (key, $0) }
    }

    func stored(_ operations: [StorageOperation]) async throws -> [StorageOperation] {
        var stored: [StorageOperation] = []
        stored.reserveCapacity(operations.count)
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                stored.append(.write(key: storedKey(key), data: try encode(data, key: key)))
            case .remove(let key):
                stored.append(.remove(key: storedKey(key)))
            case .removeAll where ownsAllItems:
                stored.append(.removeAll)
            case .removeAll:
                let written = stored.compactMap { if case .write(let key, _) = $0 { key } else { nil } }
                // A copy may lack an item, which would remain. An item whose key can't be read may be another engine's.
                let existing = try await callBase(needsOriginal: true) { try await base.fetchKeys() }
                let keys = Set(existing.filter { key(ofStored: $0).map { !$0.isUnreadable } ?? false } + written)
                stored += keys.map { .remove(key: $0) }
            }
        }
        return stored
    }
}

// Writing.
extension TransformingStorageEngine {

    public func write(_ data: Data, key: CacheKey) async throws {
        try await callBase { try await base.write(encode(data, key: key), key: storedKey(key)) }
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        let stored = try dataAndKeys.map { (key: storedKey($0.key), data: try encode($0.data, key: $0.key)) }
        try await callBase { try await base.write(stored) }
    }

    public func remove(key: CacheKey) async throws {
        try await callBase { try await base.remove(key: storedKey(key)) }
    }

    public func remove(keys: [CacheKey]) async throws {
        try await callBase { try await base.remove(keys: keys.map(storedKey)) }
    }

    public func removeAllData() async throws {
        if ownsAllItems { return try await callBase { try await base.removeAllData() } }
        try await apply([.removeAll])
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        let stored = try await stored(operations)
        try await callBase { try await base.apply(stored) }
    }
}

// Reading.
extension TransformingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await callBase { try await base.fetch(key: storedKey(key)) }.flatMap { try decodeItem($0, key: key) }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await callBase { try await base.fetch(keys: keys.map(storedKey)) }.compactMap(item)
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await callBase { try await base.fetchAll() }.compactMap(item)
    }

    public func fetchAllData() async throws -> [Data] {
        try await fetchAll().map(\.data)
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await callBase { try await base.fetchKeys() }.compactMap(key(ofStored:))
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await callBase { try await base.fetchKeys(among: candidates.map(storedKey)) }.compactMap(key(ofStored:))
    }

    public func fetchCount() async throws -> Int {
        ownsAllItems ? try await callBase { try await base.fetchCount() } : try await fetchKeys().count
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await callBase { try await base.fetchDates(key: storedKey(key)) }
    }
}

// The members of a DatedStorageEngine.
extension TransformingStorageEngine where Base: DatedStorageEngine {

    /// Reads several items together with their dates. See ``DatedStorageEngine/fetchItems(keys:)``.
    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        try await callBase { try await base.fetchItems(keys: keys.map(storedKey)) }.compactMap { stored in
            try item((stored.key, stored.data)).map { StorageItem(key: $0.key, data: $0.data, dates: stored.dates) }
        }
    }

    /// Reads the dates of all items, without the items. See ``DatedStorageEngine/fetchAllDates()``.
    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await callBase { try await base.fetchAllDates() }.compactMap { stored in
            key(ofStored: stored.key).map { ($0, stored.dates) }
        }
    }

    /// Writes several items with their dates. See ``DatedStorageEngine/write(items:)``.
    public func write(items: [StorageItem]) async throws {
        let stored = try items.map {
            StorageItem(key: storedKey($0.key), data: try encode($0.data, key: $0.key), dates: $0.dates)
        }
        try await callBase { try await base.write(items: stored) }
    }
}

// The member of a ConditionalStorageEngine.
extension TransformingStorageEngine where Base: ConditionalStorageEngine {

    /// Applies operations if items are in the expected state. See ``ConditionalStorageEngine/apply(_:if:)``.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        // An item may be stored in several forms, so the base compares with the form that it has.
        var attempts = ConditionalAttempts()
        while true {
            var storedConditions: [StorageCondition] = []
            for condition in conditions {
                let storedKey = storedKey(condition.key)
                let stored = try await callBase(needsOriginal: true) { try await base.fetch(key: storedKey) }
                guard try stored.flatMap({ try decodeItem($0, key: condition.key) }) == condition.data else {
                    // Not met either: it makes a cache or a mirror inside discard the item that the caller has read.
                    let unmet = StorageCondition(key: storedKey, data: stored == nil ? Data() : nil)
                    _ = try await callBase { try await base.apply([], if: [unmet]) }
                    return false
                }
                storedConditions.append(StorageCondition(key: storedKey, data: stored))
            }
            let changes = try await stored(operations)
            if try await callBase({ try await base.apply(changes, if: storedConditions) }) { return true }
            try Task.checkCancellation()
            try attempts.fail(conditions.first?.key)
        }
    }
}

// The members of an ObservableStorageEngine.
extension TransformingStorageEngine where Self: ObservableStorageEngine, Base: ObservableStorageEngine {

    /// Returns the cursor at the end of the log. See ``ObservableStorageEngine/fetchCursor()``.
    public func fetchCursor() async throws -> StorageCursor {
        try await callBase { try await base.fetchCursor() }
    }

    /// Reads all items and the cursor at that moment. See ``ObservableStorageEngine/fetchSnapshot()``.
    public func fetchSnapshot() async throws -> StorageSnapshot {
        let snapshot = try await callBase { try await base.fetchSnapshot() }
        return StorageSnapshot(items: try snapshot.items.compactMap(item), cursor: snapshot.cursor)
    }

    /// Reads the next changes after a cursor. See ``ObservableStorageEngine/fetchChanges(since:excluding:)``.
    public func fetchChanges(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        try await callBase { try await base.fetchChanges(since: cursor, excluding: origin) }.map(own)
    }

    /// Reads all changes after a cursor, and the items under the changed keys. See
    /// ``ObservableStorageEngine/fetchChangedItems(since:excluding:)``.
    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])? {
        guard
            let changed = try await callBase({ try await base.fetchChangedItems(since: cursor, excluding: origin) })
        else { return nil }
        return (own(changed.delta), try changed.items.compactMap(item))
    }

    /// Returns a stream that signals possible changes. See ``ObservableStorageEngine/changeSignals()``.
    public func changeSignals() -> AsyncStream<Void> { base.changeSignals() }

    private func own(_ delta: StorageDelta) -> StorageDelta {
        var own = delta
        own.changes = delta.changes.compactMap { change in
            key(ofStored: change.key).map { StorageChange(key: $0, kind: change.kind, origin: change.origin) }
        }
        return own
    }
}
