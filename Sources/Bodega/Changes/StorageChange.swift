public import Foundation

/// A change of an item.
public struct StorageChange: Hashable, Sendable {

    /// What was done.
    public enum Kind: Hashable, Sendable {
        /// The item was written: it is new, or it was overwritten.
        case written
        /// The item was removed.
        case removed
    }

    /// The item's key.
    public var key: CacheKey
    /// What was done to it.
    public var kind: Kind
    /// The origin of the change; `nil` if the writer did not state one, for example because it is a program that does not
    /// use this package.
    public var origin: StorageOrigin?

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - kind: What was done to it.
    ///   - origin: The origin of the change, if the writer stated one.
    public init(key: CacheKey, kind: Kind, origin: StorageOrigin? = nil) {
        self.key = key
        self.kind = kind
        self.origin = origin
    }
}

/// The changes between two places in a history.
public struct StorageDelta: Hashable, Sendable {
    /// The changes, in the order in which they took effect.
    public var changes: [StorageChange]
    /// The place behind them.
    public var cursor: StorageCursor
    /// Whether there was no more to read. Otherwise the next part can be read at once.
    public var isComplete: Bool

    /// Creates a delta.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they took effect.
    ///   - cursor: The place behind them.
    ///   - isComplete: Whether there was no more to read.
    public init(changes: [StorageChange], cursor: StorageCursor, isComplete: Bool) {
        self.changes = changes
        self.cursor = cursor
        self.isComplete = isComplete
    }
}

extension StorageDelta {

    /// Adds the part that comes next.
    package mutating func append(_ next: StorageDelta) {
        changes += next.changes
        cursor = next.cursor
        isComplete = next.isComplete
    }

    /// The keys that others have written, each once.
    package func keysWritten(excluding origin: StorageOrigin?) -> Set<CacheKey> {
        var keys: Set<CacheKey> = []
        for change in changes where change.kind == .written && (origin == nil || change.origin != origin) {
            keys.insert(change.key)
        }
        return keys
    }
}

/// The changes between two places in a history, and what is stored under the changed keys at the second.
public struct StorageChangedItems: Sendable {
    /// All changes, in the order in which they took effect. It may be empty if all of them are of who asks.
    public var changes: [StorageChange]
    /// The items under the keys that others than who asks have written, as far as they still exist at the place behind the
    /// changes. In any order.
    public var items: [(key: CacheKey, data: Data)]
    /// The place behind the changes.
    public var cursor: StorageCursor

    /// Creates changed items.
    ///
    /// - Parameters:
    ///   - changes: All changes, in the order in which they took effect.
    ///   - items: The items under the keys that were written, as far as they still exist behind the changes.
    ///   - cursor: The place behind the changes.
    public init(changes: [StorageChange], items: [(key: CacheKey, data: Data)], cursor: StorageCursor) {
        self.changes = changes
        self.items = items
        self.cursor = cursor
    }
}

/// All items of a collection at one moment.
public struct StorageSnapshot: Sendable {
    /// The items, in insertion order.
    public var items: [(key: CacheKey, data: Data)]
    /// The place in the history at that moment.
    public var cursor: StorageCursor

    /// Creates a snapshot.
    ///
    /// - Parameters:
    ///   - items: The items, in insertion order.
    ///   - cursor: The place in the history at that moment.
    public init(items: [(key: CacheKey, data: Data)], cursor: StorageCursor) {
        self.items = items
        self.cursor = cursor
    }
}

/// What a ``StorageChangeFeed`` tells.
public enum StorageUpdate: Sendable {
    /// Everything there is. It replaces what was known: it comes first if there was no cursor, and whenever the history does
    /// not reach back to where the reader was.
    case snapshot(StorageSnapshot)
    /// What has changed since the last news; never empty.
    case changes(StorageDelta)

    /// The place in the history behind it.
    public var cursor: StorageCursor {
        switch self {
        case .snapshot(let snapshot): snapshot.cursor
        case .changes(let delta): delta.cursor
        }
    }
}
