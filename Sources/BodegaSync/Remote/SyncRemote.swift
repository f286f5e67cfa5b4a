public import Bodega
public import Foundation

/// The database of others with which a local one is synchronized.
///
/// Engines are used by ``EngineSyncRemote``. Implement the protocol for another service.
public protocol SyncRemote: Sendable {

    /// The maximum number of items that the service changes together, all or none. Transactions of more items are
    /// refused.
    var maximumItems: Int { get }

    /// Whether the service signals changes, see ``signals(of:)``. If it does not, it is asked regularly.
    var signalsChanges: Bool { get }

    /// Applies changes, all or none.
    ///
    /// - Parameter batch: The changes. If the service has applied them before, as ``SyncBatch/id`` shows, it does not
    ///   do so again.
    /// - Returns: Whether they were applied. They are not if an item has another version than
    ///   ``SyncBatch/Change/base``; then a copy of the batch that arrives later must not be applied either.
    /// - Throws: A `StorageError`. With the codes `unreachable`, `timedOut` and `inputOutput`, the changes may have
    ///   been applied or may be applied later. With `cannotOpen`, nothing was done. If a pull finds one
    ///   of the collections missing, too, ``fence(_:)`` ends the batch, so that its other changes are sent without it.
    func apply(_ batch: SyncBatch) async throws -> Bool

    /// Ensures that changes either have been applied or will never be.
    ///
    /// - Parameter batch: The changes.
    /// - Returns: Whether they have been applied.
    /// - Throws: A `StorageError`.
    func fence(_ batch: SyncBatch) async throws -> Bool

    /// Reads what has changed.
    ///
    /// - Parameters:
    ///   - places: The collections, each with the cursor that the last call has passed on; `nil` for all items.
    ///   - keys: Items whose versions are needed in any case.
    ///   - receive: Receives parts, in order. Each collection begins with
    ///     ``SyncNews/begin(collection:isWhole:isOther:)`` and ends with ``SyncNews/end(collection:cursor:)`` or
    ///     ``SyncNews/missing(collection:_:)``. One whose items were read can follow again, with what has changed
    ///     since, so that all collections are from one moment at the end.
    /// - Throws: A `StorageError`, or the error of the receiver.
    func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws

    /// Signals when there may be changes in one of some collections. The stream ends when it is cancelled.
    ///
    /// - Parameter collections: The names of the collections.
    func signals(of collections: [String]) -> AsyncStream<Void>
}

/// Changes that a service applies all or none.
public struct SyncBatch: Sendable, Hashable {
    /// A change of an item.
    public struct Change: Sendable, Hashable {
        /// The name of the item's collection.
        public let collection: String
        /// The item's key.
        public let key: CacheKey
        /// The version that the item must have; `nil` if there must be no item.
        public let base: Data?
        /// The new version; `nil` to remove the item.
        public let data: Data?

        /// Creates a change, for example for a test of a ``SyncRemote``.
        ///
        /// - Parameters:
        ///   - collection: The name of the item's collection.
        ///   - key: The item's key.
        ///   - base: The version that the item must have; `nil` if there must be no item.
        ///   - data: The new version; `nil` to remove the item.
        public init(collection: String, key: CacheKey, base: Data?, data: Data?) {
            (self.collection, self.key, self.base, self.data) = (collection, key, base, data)
        }
    }

    /// Identifies the changes, so that they are applied once, however often they are sent.
    public let id: UUID
    /// The changes, of different items.
    public let changes: [Change]

    /// Creates changes that belong together, for example for a test of a ``SyncRemote``.
    ///
    /// - Parameters:
    ///   - id: Identifies the changes.
    ///   - changes: The changes, of different items.
    public init(id: UUID = UUID(), changes: [Change]) { (self.id, self.changes) = (id, changes) }
}

/// A part of what has changed.
public enum SyncNews: Sendable {
    /// A collection begins. If it is whole, all of its items follow.
    ///
    /// It is another one if the cursor was from another log than the remote database has now, for example because it
    /// was restored from a backup. Then items that it lacks are not removed, but sent again.
    case begin(collection: String, isWhole: Bool, isOther: Bool = false)
    /// Items, each with its version, `nil` for one that was removed; and the ``SyncBatch/id`` of the batches that have
    /// made these changes, as far as they are known.
    case items([(key: CacheKey, data: Data?)], collection: String, batches: Set<UUID>)
    /// Items that exist but can't be read.
    case unreadable([CacheKey], collection: String)
    /// A collection can't be read, and is tried again later. Others can be.
    case missing(collection: String, any Error)
    /// A collection ends. The cursor is its place in the log; `nil` if the next call has to read all items.
    case end(collection: String, cursor: StorageCursor?)
}
