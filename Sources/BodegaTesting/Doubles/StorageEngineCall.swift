public import Bodega

/// One call that ``RecordingStorageEngine`` has recorded.
///
/// The members of ``/Bodega/StorageEngine`` appear as the calls to which they lead:
///
/// | Members | Operation |
/// | --- | --- |
/// | `fetch(key:)`, `fetch(keys:)`, `fetchKeys(among:)`, `fetchDates(key:)` and their `read…` forms | `fetch` |
/// | `fetchAll()`, `fetchAllData()`, `fetchKeys()`, `fetchCount()` and their `read…` forms | `scan` |
/// | `write(_:key:)`, `write(_:)`, `remove(key:)`, `remove(keys:)`, `removeAllData()`, `apply(_:)` | `apply` |
/// | `fetchStream(key:)` | `fetchStream` |
/// | `write(stream:key:)` | `applyStream` |
public struct StorageEngineCall: Sendable {

    /// The call with its request.
    public let call: StorageCall

    /// The value of the answer, or the error that the call threw.
    ///
    /// The value of a call for one item is a `Data?`, that of a call for several items a `[StorageItem]`, and that of a
    /// batch a `BatchOutcome`. The items of a scan are not recorded.
    public let outcome: Result<any StorageAnswerValue, any Error>

    /// What the call does, without its arguments.
    public var operation: StorageCall.Operation { call.operation }

    /// The keys in the call, in its order; for a batch the keys of its writes and removals.
    public var keys: [CacheKey] {
        switch call {
        case .fetchOne(let key), .fetchStream(let key), .applyStream(let key, _): [key]
        case .fetch(let request): request.keys
        case .apply(let batch): batch.operations.compactMap(\.key)
        default: []
        }
    }

    /// The error that the call threw, if it did.
    public var error: (any Error)? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

extension Set<StorageCall.Operation> {
    /// The calls that change items or indexes.
    public static var writes: Self { all.filter(\.isWrite) }

    /// The calls that only read.
    public static var reads: Self { all.subtracting(writes) }

    /// The calls that take several operations and can be torn.
    public static var batches: Self { [.apply] }

    /// All calls.
    public static var all: Self { Set(StorageCall.Operation.allCases) }
}

extension StorageOperation {
    /// The operation's key; `nil` for the removal of all items.
    fileprivate var key: CacheKey? {
        switch self {
        case .write(let key, _), .remove(let key): key
        case .removeAll: nil
        }
    }
}
