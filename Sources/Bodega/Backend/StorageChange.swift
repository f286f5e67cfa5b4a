public import Foundation

/// A change of one item.
public struct StorageChange: Hashable, Sendable {

    /// A kind of change.
    public enum Kind: Hashable, Sendable {
        /// The item was added or overwritten.
        case written
        /// The item was removed.
        case removed
    }

    /// The item's key.
    public var key: CacheKey
    /// The kind of change.
    public var kind: Kind
    /// The origin of the change; `nil` if the writer did not state one.
    public var origin: StorageOrigin?

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - kind: The kind of change.
    ///   - origin: The origin of the change, if it is known.
    public init(key: CacheKey, kind: Kind, origin: StorageOrigin? = nil) {
        self.key = key
        self.kind = kind
        self.origin = origin
    }
}

/// The changes between two cursors.
public struct StorageDelta: Hashable, Sendable {
    /// The changes, in the order in which they took effect.
    public var changes: [StorageChange]
    /// The cursor after the last change.
    public var cursor: StorageCursor
    /// Whether these are all changes at the moment of reading. Otherwise the next part can be read immediately.
    public var isComplete: Bool
    /// The existing items under the keys that other origins have written, if they were asked for.
    public var items: [StorageItem]

    /// Creates a delta.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they took effect.
    ///   - cursor: The cursor after the last change.
    ///   - isComplete: Whether these are all changes at the moment of reading.
    ///   - items: The existing items under the written keys, if they were asked for.
    public init(changes: [StorageChange], cursor: StorageCursor, isComplete: Bool, items: [StorageItem] = []) {
        self.changes = changes
        self.cursor = cursor
        self.isComplete = isComplete
        self.items = items
    }
}

extension StorageDelta {

    /// Appends the next part.
    package mutating func append(_ next: StorageDelta) {
        changes += next.changes
        cursor = next.cursor
        isComplete = next.isComplete
    }

    /// The keys that other origins have written, each once, in the order of their first changes.
    package func keysWritten(excluding origin: StorageOrigin?) -> [CacheKey] {
        keysWritten { origin == nil || $0 != origin }
    }

    /// The keys of the items that an answer to a request has, each once, in the order of their first changes.
    package func keysWritten(for request: ChangesRequest) -> [CacheKey] {
        keysWritten { origin in
            guard let origin else { return true }
            return origin != request.excluded && !request.known.contains(origin)
        }
    }

    private func keysWritten(by isOther: (StorageOrigin?) -> Bool) -> [CacheKey] {
        changes.filter { $0.kind == .written && isOther($0.origin) }.map(\.key).withoutRepetitions
    }
}

/// All items of a collection at one moment.
public struct StorageSnapshot: Sendable {
    /// The items, in insertion order.
    public var items: [(key: CacheKey, data: Data)]
    /// The cursor at that moment.
    public var cursor: StorageCursor

    /// Creates a snapshot.
    ///
    /// - Parameters:
    ///   - items: The items, in insertion order.
    ///   - cursor: The cursor at that moment.
    public init(items: [(key: CacheKey, data: Data)], cursor: StorageCursor) {
        self.items = items
        self.cursor = cursor
    }
}

/// An element of a ``StorageChangeFeed``.
public enum StorageUpdate: Sendable {
    /// All items. It replaces earlier updates. It comes first if there was no cursor, and whenever the log does not
    /// reach back to the reader's cursor.
    case snapshot(StorageSnapshot)
    /// The changes since the last update; never empty.
    case changes(StorageDelta)

    /// The cursor after the update.
    public var cursor: StorageCursor {
        switch self {
        case .snapshot(let snapshot): snapshot.cursor
        case .changes(let delta): delta.cursor
        }
    }
}
