public import Bodega
public import Foundation

/// One call that ``RecordingStorageEngine`` has recorded.
public struct StorageEngineCall: Sendable {

    /// The member of the engine that was called.
    public typealias Operation = StorageCall.Operation

    /// The outcome of a call.
    public enum Outcome: Sendable {
        /// The call has nothing to return.
        case done
        /// An item, or `nil` for an absent one.
        case data(Data?)
        /// Several items with their keys.
        case items([(key: CacheKey, data: Data)])
        /// All items without keys.
        case allData([Data])
        /// Keys.
        case keys([CacheKey])
        /// The number of items.
        case count(Int)
        /// The dates of an item, or `nil` for an absent one.
        case dates(StorageDates?)
        /// The call threw this error.
        case failed(any Error)
    }

    /// The member that was called.
    public var operation: Operation

    /// The keys in the call, in its order; for `apply(_:)` the keys of its writes and removals.
    public var keys: [CacheKey]

    /// The outcome of the call.
    public var outcome: Outcome

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - operation: The member that was called.
    ///   - keys: The keys in the call.
    ///   - outcome: The outcome.
    public init(_ operation: Operation, keys: [CacheKey] = [], outcome: Outcome = .done) {
        self.operation = operation
        self.keys = keys
        self.outcome = outcome
    }

    /// The error that the call threw, if it did.
    public var error: (any Error)? {
        if case .failed(let error) = outcome { error } else { nil }
    }
}

extension Set<StorageEngineCall.Operation> {
    /// The calls that write or remove items.
    public static var writes: Self { all.filter(\.isWrite) }

    /// The calls that only read.
    public static var reads: Self { all.subtracting(writes) }

    /// The calls that take several operations and can be torn.
    public static var batches: Self { [.writeMany, .removeKeys, .apply] }

    /// All calls.
    public static var all: Self { Set(StorageEngineCall.Operation.allCases) }
}

extension StorageOperation {
    /// The operation's key; `nil` for the removal of all items.
    var key: CacheKey? {
        switch self {
        case .write(let key, _), .remove(let key): key
        case .removeAll: nil
        }
    }
}
