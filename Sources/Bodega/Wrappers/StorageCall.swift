import Foundation

/// A call that a ``ForwardingStorageEngine`` performs, with its request.
public enum StorageCall: Sendable {
    /// ``StorageEngine/fetch(key:)``.
    case fetchOne(CacheKey)
    /// ``StorageBackend/fetch(_:)``.
    case fetch(FetchRequest)
    /// ``StorageBackend/scan(_:_:)``.
    case scan(ScanRequest)
    /// ``StorageEngine/fetchStream(key:)``.
    case fetchStream(CacheKey)
    /// ``StorageBackend/apply(_:)``.
    case apply(StorageBatch)
    /// ``StorageBackend/apply(_:key:)``.
    case applyStream(CacheKey, StorageByteStream)
    /// ``StorageLog/fetchCursor()``.
    case fetchCursor
    /// ``StorageLog/fetchChanges(_:)``.
    case fetchChanges(ChangesRequest)
    /// ``StorageIndexes/fetchIndexes()``.
    case fetchIndexes
    /// ``StorageIndexes/createIndex(_:)``.
    case createIndex(StorageIndex)
    /// ``StorageIndexes/removeIndex(_:)``.
    case removeIndex(StorageIndex)
    /// ``StorageReferences/fetchReferences()``.
    case fetchReferences
    /// ``StorageReferences/declareReferences(_:)``.
    case declareReferences([StorageReference])

    /// What a call does, without its arguments, for example as a dimension of metrics.
    public enum Operation: String, Sendable, CaseIterable {
        /// Reads items under some keys, or their dates.
        case fetch
        /// Reads or counts items in an order.
        case scan
        /// Reads one item in parts.
        case fetchStream
        /// Changes items.
        case apply
        /// Writes one item from a stream.
        case applyStream
        /// Reads the end of the log.
        case fetchCursor
        /// Reads changes.
        case fetchChanges
        /// Lists the indexes.
        case fetchIndexes
        /// Creates an index.
        case createIndex
        /// Removes an index.
        case removeIndex
        /// Lists the references.
        case fetchReferences
        /// Declares references.
        case declareReferences

        /// Whether calls change items, indexes or declarations.
        public var isWrite: Bool {
            switch self {
            case .apply, .applyStream, .createIndex, .removeIndex, .declareReferences: true
            case .fetch, .scan, .fetchStream, .fetchCursor, .fetchChanges, .fetchIndexes, .fetchReferences: false
            }
        }
    }

    /// What the call does.
    public var operation: Operation {
        switch self {
        case .fetchOne, .fetch: .fetch
        case .scan: .scan
        case .fetchStream: .fetchStream
        case .apply: .apply
        case .applyStream: .applyStream
        case .fetchCursor: .fetchCursor
        case .fetchChanges: .fetchChanges
        case .fetchIndexes: .fetchIndexes
        case .createIndex: .createIndex
        case .removeIndex: .removeIndex
        case .fetchReferences: .fetchReferences
        case .declareReferences: .declareReferences
        }
    }

    /// Whether the call changes items, indexes or declarations.
    public var isWrite: Bool { operation.isWrite }

    /// The key of a call for a single item; `nil` for other calls.
    public var key: CacheKey? {
        switch self {
        case .fetchOne(let key), .fetchStream(let key), .applyStream(let key, _): key
        case .fetch(let request) where request.keys.count == 1: request.keys[0]
        case .apply(let batch) where batch.operations.count == 1:
            switch batch.operations[0] {
            case .write(let key, _), .remove(let key): key
            case .removeAll: nil
            }
        default: nil
        }
    }

    /// The number of keys or operations that the caller passes; 0 if the call takes none.
    public var count: Int {
        switch self {
        case .fetchOne, .fetchStream, .applyStream: 1
        case .fetch(let request): request.keys.count
        case .apply(let batch): batch.operations.count
        default: 0
        }
    }

    /// The number of bytes of all items that the caller passes; 0 for a stream of unknown length. Computing it takes
    /// time proportional to ``count``.
    public var byteCount: Int {
        switch self {
        case .applyStream(_, let stream): stream.count ?? 0
        case .apply(let batch):
            batch.operations.reduce(0) { if case .write(_, let data) = $1 { $0 + data.count } else { $0 } }
        default: 0
        }
    }
}

extension StorageBatch {

    /// The items that the batch leaves under the keys that it changes, `nil` where it leaves none.
    ///
    /// - Returns: `nil` if the batch changes all keys, or more than a number of them.
    func finalItems(maximumCount: Int) -> [CacheKey: Data?]? {
        guard operations.count <= maximumCount else { return nil }
        var items: [CacheKey: Data?] = [:]
        for operation in operations {
            switch operation {
            case .write(let key, let data): items[key] = data
            case .remove(let key): items.updateValue(nil, forKey: key)
            case .removeAll: return nil
            }
        }
        return items
    }

    /// Whether an engine may answer that the batch was applied without doing so now, because it was before. Others may
    /// have changed its items since.
    func isRecognized(by engine: any StorageBackend) -> Bool {
        identifier != nil && engine.traits.contains(.receipts)
    }

    /// Whether applying the batch again changes nothing, unless others have written in between.
    package var isIdempotent: Bool { conditions == nil && basis == nil && !addsAgain }

    /// Whether the batch removes an item and writes it again. If it removes all items, it is like one that does not.
    var addsAgain: Bool {
        if operations.count < 2 || operations.contains(.removeAll) { return false }
        var removed: Set<CacheKey> = []
        return operations.contains { operation in
            switch operation {
            case .write(let key, _): return removed.contains(key)
            case .remove(let key): removed.insert(key)
            case .removeAll: break
            }
            return false
        }
    }
}
