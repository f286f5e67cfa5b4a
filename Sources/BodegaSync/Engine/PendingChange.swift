public import Bodega
public import Foundation

/// A change in the outbox, which the remote database does not have yet.
public struct PendingChange: Hashable, Sendable {
    /// The name of the item's collection.
    public let collection: String
    /// The item's key.
    public let key: CacheKey
    /// The last version of the remote database that this replica knows; `nil` if there is no item.
    public let base: Data?
    /// The version of this replica; `nil` if the item is removed.
    public let data: Data?
    /// Whether the change is on its way.
    public let isSent: Bool
    /// Why it is parked; `nil` if it is not.
    public let failure: SyncFailure?

    init(_ item: SyncItemID, _ record: OutboxRecord) {
        (collection, key, base, data) = (item.collection, item.key, record.server, record.visible)
        (isSent, failure) = (record.sent != nil, record.sent == nil ? record.edit?.failure : nil)
    }
}
