public import Foundation

/// One step of an atomic batch; see ``StorageEngine/apply(_:)``.
public enum StorageOperation: Sendable, Equatable {
    /// Writes an item, replacing the one under the same key.
    case write(key: CacheKey, data: Data)

    /// Removes an item; an absent one is skipped.
    case remove(key: CacheKey)

    /// Removes all items, including those written earlier in the same batch.
    case removeAll
}

extension StorageOperation {
    /// Whether the operation removes items.
    var isRemoval: Bool {
        switch self {
        case .write: false
        case .remove, .removeAll: true
        }
    }
}
