public import Bodega
public import Foundation

/// The versions of an item that two replicas have changed.
public struct SyncVersions: Hashable, Sendable, Codable {
    /// The name of the item's collection.
    public let collection: String
    /// The item's key.
    public let key: CacheKey
    /// The version that both have changed; `nil` if there was no item.
    public let base: Data?
    /// The version of this replica; `nil` if it has removed the item.
    public let local: Data?
    /// The version of the remote database; `nil` if the item was removed there.
    public let remote: Data?
}

/// A change of this replica that was merged with one of others.
public struct SyncConflict: Hashable, Sendable, Codable {
    /// The versions.
    public let versions: SyncVersions
    /// What the item has become; `nil` if it is removed.
    public let merged: Data?
    /// The properties that both have changed, with the versions that were not taken. It is empty if the changes
    /// concern different properties, or if a policy of the app has made a version of its own.
    public let losses: [MergeLoss]

    init(_ versions: SyncVersions, _ result: MergeResult) {
        (self.versions, merged, losses) = (versions, result.data, result.losses)
    }
}

/// What has become of a change.
public struct SyncOutcome: Hashable, Sendable {
    /// A kind of outcome.
    public enum Kind: Hashable, Sendable {
        /// The remote database has it.
        case accepted
        /// It was merged with a change of others, and is sent again unless nothing of it is left.
        case merged(SyncConflict)
        /// The remote database refuses it, so it is parked.
        case refused(SyncFailure)
        /// It was given up; the bytes are those that it had written.
        case discarded(Data?)
    }

    /// The name of the item's collection.
    public let collection: String
    /// The item's key.
    public let key: CacheKey
    /// The outcome.
    public let kind: Kind

    init(item: SyncItemID, _ kind: Kind) { (collection, key, self.kind) = (item.collection, item.key, kind) }
}
