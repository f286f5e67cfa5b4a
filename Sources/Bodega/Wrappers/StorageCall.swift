import Foundation

/// A call of an engine's method, as a ``ForwardingStorageEngine`` sees it.
public struct StorageCall: Sendable {

    /// The method that is called.
    ///
    /// The `read…` methods and similar ones appear as the `fetch…` methods that they call: `read(key:)` as ``fetch``,
    /// `keyExists(_:)` as ``fetchKeysAmong``, `createdAt(key:)` as ``fetchDates``.
    public enum Operation: String, Sendable, CaseIterable {
        /// `write(_:key:)`
        case write
        /// `write(stream:key:)`
        case writeStream
        /// `write(_:)` with several items
        case writeMany
        /// `write(items:)`, see ``DatedStorageEngine``
        case writeItems
        /// `remove(key:)`
        case remove
        /// `remove(keys:)`
        case removeKeys
        /// `removeAllData()`
        case removeAll
        /// `apply(_:)`
        case apply
        /// `apply(_:if:)`, see ``ConditionalStorageEngine``
        case applyIf
        /// `fetch(key:)`
        case fetch
        /// `fetchStream(key:)`
        case fetchStream
        /// `fetch(keys:)`
        case fetchMany
        /// `fetchAll()`
        case fetchAll
        /// `fetchAllData()`
        case fetchAllData
        /// `fetchKeys()`
        case fetchKeys
        /// `fetchKeys(among:)`
        case fetchKeysAmong
        /// `fetchCount()`
        case fetchCount
        /// `fetchDates(key:)`
        case fetchDates
        /// `fetchItems(keys:)`, see ``DatedStorageEngine``
        case fetchItems
        /// `fetchAllDates()`, see ``DatedStorageEngine``
        case fetchAllDates
        /// `fetchCursor()`, see ``ObservableStorageEngine``
        case fetchCursor
        /// `fetchSnapshot()`, see ``ObservableStorageEngine``
        case fetchSnapshot
        /// `fetchChanges(since:excluding:)`, see ``ObservableStorageEngine``
        case fetchChanges
        /// `fetchChangedItems(since:excluding:)`, see ``ObservableStorageEngine``
        case fetchChangedItems
        /// `scan(_:_:)`, see ``QueryableStorageEngine``
        case scan
        /// `fetchEntries(keys:index:)`, see ``QueryableStorageEngine``
        case fetchEntries
        /// `count(_:upTo:)`, see ``QueryableStorageEngine``
        case countScan
        /// `fetchIndexes()`, see ``QueryableStorageEngine``
        case fetchIndexes
        /// `createIndex(_:)`, see ``QueryableStorageEngine``
        case createIndex
        /// `removeIndex(_:)`, see ``QueryableStorageEngine``
        case removeIndex

        /// Whether the method changes items.
        public var isWrite: Bool {
            switch self {
            case .write, .writeStream, .writeMany, .writeItems, .remove, .removeKeys, .removeAll, .apply, .applyIf,
                .createIndex, .removeIndex:
                true
            case .fetch, .fetchStream, .fetchMany, .fetchAll, .fetchAllData, .fetchKeys, .fetchKeysAmong, .fetchCount,
                .fetchDates, .fetchItems, .fetchAllDates, .fetchCursor, .fetchSnapshot, .fetchChanges,
                .fetchChangedItems, .scan, .fetchEntries, .countScan, .fetchIndexes:
                false
            }
        }
    }

    enum Argument: Sendable {
        case none
        case key(CacheKey)
        case keys([CacheKey])
        case item(CacheKey, Data)
        case stream(CacheKey, StorageByteStream)
        case items([(key: CacheKey, data: Data)])
        case datedItems([StorageItem])
        case operations([StorageOperation])
    }

    /// The method that is called.
    public let operation: Operation

    private let argument: Argument

    init(_ operation: Operation, _ argument: Argument = .none) {
        self.operation = operation
        self.argument = argument
    }

    /// The key of a call for a single item; `nil` for other calls.
    public var key: CacheKey? {
        switch argument {
        case .key(let key), .item(let key, _), .stream(let key, _): key
        case .none, .keys, .items, .datedItems, .operations: nil
        }
    }

    /// The number of items, keys or operations that the caller passes; 0 if the call takes none.
    public var count: Int {
        switch argument {
        case .none: 0
        case .key, .item, .stream: 1
        case .keys(let keys): keys.count
        case .items(let items): items.count
        case .datedItems(let items): items.count
        case .operations(let operations): operations.count
        }
    }

    /// The items that a write leaves under the keys that it changes, `nil` where it leaves none or where it is unknown.
    ///
    /// - Returns: `nil` if the write changes all keys, or more than a number of them.
    func finalItems(maximumCount: Int) -> [CacheKey: Data?]? {
        guard count <= maximumCount else { return nil }
        if case .stream(let key, _) = argument { return [key: nil] }
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

    /// Whether the call removes an item and writes it again. If it removes all items, it is like one that does not.
    var addsAgain: Bool {
        guard case .operations(let operations) = argument, !operations.contains(.removeAll) else { return false }
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

    /// The changes of a write, none if it is that of a stream.
    var operations: [StorageOperation] {
        switch argument {
        case .none: operation == .removeAll ? [.removeAll] : []
        case .stream: []
        case .key(let key): [.remove(key: key)]
        case .keys(let keys): keys.map { .remove(key: $0) }
        case .item(let key, let data): [.write(key: key, data: data)]
        case .items(let items): items.map { .write(key: $0.key, data: $0.data) }
        case .datedItems(let items): items.map { .write(key: $0.key, data: $0.data) }
        case .operations(let operations): operations
        }
    }

    /// The number of bytes of all items that the caller passes; 0 for a stream of unknown length. Computing it takes
    /// time proportional to ``count``.
    public var byteCount: Int {
        switch argument {
        case .none, .key, .keys: 0
        case .item(_, let data): data.count
        case .stream(_, let stream): stream.count ?? 0
        case .items(let items): items.reduce(0) { $0 + $1.data.count }
        case .datedItems(let items): items.reduce(0) { $0 + $1.data.count }
        case .operations(let operations):
            operations.reduce(0) { if case .write(_, let data) = $1 { $0 + data.count } else { $0 } }
        }
    }

    /// Returns the number of bytes of all items in the result of a call; 0 for results without items.
    ///
    /// - Parameter result: What the body of ``ForwardingStorageEngine/forward(_:_:)`` has returned.
    public static func byteCount<Value>(of result: Value) -> Int {
        switch result {
        case let data as Data: data.count
        case let stream as StorageByteStream: stream.count ?? 0
        case let items as [(key: CacheKey, data: Data)]: items.reduce(0) { $0 + $1.data.count }
        case let items as [Data]: items.reduce(0) { $0 + $1.count }
        case let items as [StorageItem]: items.reduce(0) { $0 + $1.data.count }
        case let snapshot as StorageSnapshot: snapshot.items.reduce(0) { $0 + $1.data.count }
        case let changed as (delta: StorageDelta, items: [(key: CacheKey, data: Data)]):
            changed.items.reduce(0) { $0 + $1.data.count }
        default: 0
        }
    }
}
