public import Foundation

/// The state that an item must have for a conditional batch to be applied, see ``StorageBatch/conditions``.
public struct StorageCondition: Sendable, Hashable {
    /// The item's key.
    public var key: CacheKey
    /// The item's bytes; `nil` if there must be no item.
    public var data: Data?

    /// Creates a condition.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - data: The item's bytes; `nil` if there must be no item.
    public init(key: CacheKey, data: Data?) {
        self.key = key
        self.data = data
    }
}
