public import Foundation

/// An engine that keeps its items in another engine, in another form or under other keys.
///
/// ```swift
/// struct CompressedEngine: TransformingStorageEngine {
///     let base: any StorageBackend
///
///     func encode(_ data: Data, key: CacheKey) throws -> Data { try compress(data) }
///     func decode(_ stored: Data, key: CacheKey) throws -> Data? { try decompress(stored) }
/// }
/// ```
///
/// The engine can do what its ``base`` can, but it has no indexes: those of the base are over what the base keeps.
public protocol TransformingStorageEngine: StorageBackend {

    /// The engine that keeps the items.
    var base: any StorageBackend { get }

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
    /// - Returns: The item; `nil` if there is none any more, for example because it has expired, see ``hidesItems``.
    /// - Throws: An error if the bytes are not those of an item. A call that reads several items then throws it as a
    ///   ``StorageError`` with the key, or leaves the item out, see ``ReadOptions/omitsUnreadable``.
    func decode(_ stored: Data, key: CacheKey) throws -> Data?

    /// Whether ``decode(_:key:)`` may return `nil`; by default, `false`. Otherwise, methods that return keys, dates or
    /// the number of items read the items.
    var hidesItems: Bool { get }

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

    /// When an item expires, see ``StorageFields/expiry``; by default, never.
    func expiry(ofStored stored: Data, key: CacheKey) throws -> Date?

    /// When an item that is written now expires; by default, never.
    func expiryOfWrites() -> Date?
}

extension TransformingStorageEngine {
    public var hidesItems: Bool { false }

    public func storedKey(_ key: CacheKey) -> CacheKey { key }

    public func key(ofStored key: CacheKey) -> CacheKey? { key }

    public var ownsAllItems: Bool { true }

    public func expiry(ofStored stored: Data, key: CacheKey) throws -> Date? { nil }

    public func expiryOfWrites() -> Date? { nil }

    /// Those of the base. The engine's changes end early when their task is cancelled if it does not own all items,
    /// because it reads keys before it removes all items.
    public var traits: StorageTraits {
        ownsAllItems ? base.traits : base.traits.subtracting(.ignoresCancellation)
    }

    public var database: (any StorageDatabase)? { base.database }

    public func now() -> Date { base.now() }

    public var log: (any StorageLog)? { base.log.map { TransformedLog(engine: self, base: $0) } }
}

// Reading.
extension TransformingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await naming { try await base.fetch(key: storedKey(key)) }.flatMap { try decodeItem($0, key: key) }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        if hidesItems, !request.fields.contains(.data) { return try await fetchInParts(request) }
        let stored = FetchRequest(
            request.keys.map(storedKey), storedFields(request.fields), options: request.options)
        return try await own(naming { try await base.fetch(stored) }, request.fields, request.options)
    }

    /// Reads all items with one call of the base, which may be faster than a scan.
    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await naming { try await base.fetchAll() }.compactMap { stored in
            guard let key = key(ofStored: stored.key) else { return nil }
            return try decodeItem(stored.data, key: key).map { (key, $0) }
        }
    }

    public func fetchAllData() async throws -> [Data] { try await fetchAll().map(\.data) }

    /// Reads what exists among keys by its data, a few items at a time.
    private func fetchInParts(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        var request = request
        request.fields.insert(.data)
        for attempt in 0..<3 {
            // A cache in the other engine is a copy, too, and may answer for some parts each time.
            if attempt == 2 { request.options.needsOriginal = true }
            var answer = StorageAnswer<[StorageItem]>([])
            var (remaining, size) = (request.keys[...], PartSize())
            while !remaining.isEmpty {
                var next = request
                next.keys = size.next(of: &remaining)
                let part = try await fetch(next)
                size.fit(bytes: part.value.byteCount, count: part.value.count)
                answer.report.add(part.report)
                answer.value += part.value.lazy.map { item in
                    var item = item
                    item.data = Data()
                    return item
                }
            }
            if answer.report.sources != [.copy, .original] { return answer }
        }
        throw StorageError(.unreachable, "The base of a mirror failed again and again during a read. Try again.")
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        var stored = request
        stored.fields = storedFields(request.fields)
        // What is only counted may not be an item of this engine, so it is passed on, and counted here.
        let readCount = request.scans.count
        if request.scans.isEmpty, !hidesItems { stored.fields = [] }
        if hidesItems || !ownsAllItems { (stored.scans, stored.counted) = (request.scans + request.counted, []) }
        let found = Locked((count: 0, bytes: 0, unreadable: [StorageError]()))
        var answer = try await naming {
            try await base.scan(stored) {
                found.withLock { $0 = (0, 0, []) }
                let receive = try begin()
                return { number, stored in
                    var unreadable: [StorageError] = []
                    guard let item = try item(stored, request.fields, request.options, &unreadable) else {
                        if !unreadable.isEmpty { found.withLock { $0.unreadable += unreadable } }
                        return true
                    }
                    if number < readCount {
                        found.withLock { $0.bytes += item.data.count }
                        return try receive(number, item)
                    }
                    return found.withLock { found in
                        found.count += 1
                        return found.count < request.countLimit
                    }
                }
            }
        }
        answer.report = answer.report.mapKeys(key(ofStored:))
        let (count, bytes, unreadable) = found.withLock { $0 }
        answer.report.unreadable += unreadable
        if stored.counted.isEmpty { answer.value.count = min(count, request.countLimit) }
        answer.value.byteCount = bytes
        return answer
    }

    fileprivate func storedFields(_ fields: StorageFields) -> StorageFields {
        hidesItems || fields.contains(.expiry) ? fields.union(.data) : fields
    }

    fileprivate func own(
        _ answer: StorageAnswer<[StorageItem]>, _ fields: StorageFields, _ options: ReadOptions
    ) throws -> StorageAnswer<[StorageItem]> {
        var unreadable: [StorageError] = []
        let items = try answer.value.compactMap { try item($0, fields, options, &unreadable) }
        var report = answer.report.mapKeys(key(ofStored:))
        report.unreadable += unreadable
        return StorageAnswer(items, report)
    }

    /// The item that the base keeps, `nil` if it is not one of this engine, or can't be read and may be omitted.
    fileprivate func item(
        _ stored: StorageItem, _ fields: StorageFields, _ options: ReadOptions, _ unreadable: inout [StorageError]
    ) throws -> StorageItem? {
        guard let key = key(ofStored: stored.key) else { return nil }
        var item = stored
        (item.key, item.sortKey, item.sortKeys) = (key, nil, [])
        guard hidesItems || !fields.isDisjoint(with: [.data, .expiry]) else { return item }
        do {
            guard let data = try decodeItem(stored.data, key: key) else { return nil }
            item.data = data
            if fields.contains(.expiry) {
                let own = try expiry(ofStored: stored.data, key: key)
                item.expiry = [item.expiry, own].compactMap { $0 }.min()
            }
            return item
        } catch let error as StorageError where options.omitsUnreadable {
            unreadable.append(error)
            return nil
        }
    }

    /// Decodes an item. An error is a ``StorageError`` with the item's key.
    func decodeItem(_ stored: Data, key: CacheKey) throws -> Data? {
        do {
            return try decode(stored, key: key)
        } catch var error as StorageError {
            error.key = key
            throw error
        } catch {
            throw StorageError(
                .decodingFailed,
                "The engine can't decode the item. Restore it from a backup, remove it, or write it again.",
                key: key, cause: error)
        }
    }

    /// Performs a call of the base, whose error then names an item by its key instead of the stored one.
    func naming<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch var error as StorageError {
            // An item of the base alone keeps its name.
            if let key = error.key.flatMap(key(ofStored:)) { error.key = key }
            throw error
        }
    }
}

// Writing.
extension TransformingStorageEngine {

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        let expiry = expiryOfWrites()
        var stored = StorageBatch([], origin: batch.origin)
        (stored.group, stored.basis, stored.identifier) = (batch.group, batch.basis, batch.identifier)
        (stored.heedsReferences, stored.isTransaction) = (batch.heedsReferences, batch.isTransaction)
        for (key, dates) in batch.dates { stored.dates[storedKey(key)] = dates }
        var answer: StorageAnswer<BatchOutcome>
        if let conditions = batch.conditions {
            answer = try await apply(batch.operations, if: conditions, stored)
        } else {
            stored.operations = try await self.stored(batch.operations)
            answer = try await naming { [stored] in try await base.apply(stored) }
        }
        answer.report = answer.report.mapKeys(key(ofStored:))
        if let expiry { answer.value.expiry = min(expiry, answer.value.expiry ?? expiry) }
        return answer
    }

    /// An item may be stored in several forms, so the base compares with the form that it has.
    private func apply(
        _ operations: [StorageOperation], if conditions: [StorageCondition], _ batch: StorageBatch
    ) async throws -> StorageAnswer<BatchOutcome> {
        var (attempts, stored) = (ConditionalAttempts(), batch)
        while true {
            var storedConditions: [StorageCondition] = []
            for condition in conditions {
                let key = storedKey(condition.key)
                let request = FetchRequest([key], options: ReadOptions(needsOriginal: true))
                let data = try await naming { try await base.fetch(request) }.value.first?.data
                guard try data.flatMap({ try decodeItem($0, key: condition.key) }) == condition.data else {
                    // Not met either: it makes a cache or a mirror inside discard the item that the caller has read.
                    let unmet = StorageCondition(key: key, data: data == nil ? Data() : nil)
                    (stored.operations, stored.conditions) = ([], [unmet])
                    return try await naming { [stored] in try await base.apply(stored) }
                }
                storedConditions.append(StorageCondition(key: key, data: data))
            }
            stored.operations = try await self.stored(operations)
            stored.conditions = storedConditions
            let answer = try await naming { [stored] in try await base.apply(stored) }
            // A group repeats all of its batches. The basis can be an earlier one.
            if answer.value.wasApplied || batch.group != nil || batch.basis != nil { return answer }
            try Task.checkCancellation()
            try attempts.fail(conditions.first?.key)
        }
    }

    private func stored(_ operations: [StorageOperation]) async throws -> [StorageOperation] {
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
                let existing = try await naming {
                    try await base.fetchKeys(options: ReadOptions(needsOriginal: true))
                }
                let keys = Set(existing.filter { key(ofStored: $0).map { !$0.isUnreadable } ?? false } + written)
                stored += keys.map { .remove(key: $0) }
            }
        }
        return stored
    }
}

private struct TransformedLog<Engine: TransformingStorageEngine>: StorageLog {
    let engine: Engine
    let base: any StorageLog

    func fetchCursor() async throws -> StorageCursor { try await base.fetchCursor() }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        var stored = request
        stored.fields = engine.storedFields(request.fields)
        let answer = try await engine.naming { [stored] in try await base.fetchChanges(stored) }
        guard var delta = answer.value else { return StorageAnswer(nil, answer.report) }
        delta.changes = delta.changes.compactMap { change in
            engine.key(ofStored: change.key).map { StorageChange(key: $0, kind: change.kind, origin: change.origin) }
        }
        let items = try engine.own(StorageAnswer(delta.items, answer.report), request.fields, request.options)
        delta.items = items.value
        return StorageAnswer(delta, items.report)
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> { base.changeSignals(excluding: origin) }
}
