public import Foundation

/// Which parts of items a read returns. All items have their keys.
public struct StorageFields: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ``StorageItem/data``. Without it, that may be empty.
    public static let data = StorageFields(rawValue: 1 << 0)

    /// ``StorageItem/dates``.
    public static let dates = StorageFields(rawValue: 1 << 1)

    /// ``StorageItem/position`` and ``StorageItem/sortKey``, which items of scans have always.
    public static let place = StorageFields(rawValue: 1 << 2)

    /// ``StorageItem/expiry``.
    public static let expiry = StorageFields(rawValue: 1 << 3)
}

/// How a read is carried out.
public struct ReadOptions: Sendable, Hashable {

    /// Whether an item that can't be read is left out, with its error in ``StorageReport/unreadable``. Otherwise the
    /// read fails.
    public var omitsUnreadable: Bool

    /// Whether copies, such as those of a cache or a mirror, must not answer.
    public var needsOriginal: Bool

    /// Creates options; by default, reads fail at an item that can't be read, and copies may answer.
    public init(omitsUnreadable: Bool = false, needsOriginal: Bool = false) {
        (self.omitsUnreadable, self.needsOriginal) = (omitsUnreadable, needsOriginal)
    }
}

/// A request for items under some keys, see ``StorageBackend/fetch(_:)``.
public struct FetchRequest: Sendable, Hashable {
    /// The keys of the items.
    public var keys: [CacheKey]

    /// Which parts of the items to read.
    public var fields: StorageFields

    /// The index whose sort keys the items' places have, those of its last member. The items have those of all members,
    /// too, see ``StorageItem/sortKeys``. It matters only with ``StorageFields/place``.
    public var index: StorageIndex?

    /// How to read.
    public var options: ReadOptions

    /// Creates a request.
    public init(
        _ keys: [CacheKey], _ fields: StorageFields = .data, index: StorageIndex? = nil,
        options: ReadOptions = ReadOptions()
    ) {
        (self.keys, self.fields, self.index, self.options) = (keys, fields, index, options)
    }
}

/// A request for many items, see ``StorageBackend/scan(_:_:)``.
public struct ScanRequest: Sendable, Hashable {

    /// The scans whose items are passed on. By default, all items in insertion order.
    public var scans: [StorageScan]

    /// Scans whose items are only counted.
    public var counted: [StorageScan]

    /// The number of items after which counting ends.
    public var countLimit: Int

    /// Which parts of the items to read.
    public var fields: StorageFields

    /// Whether the answer has the end of the log at the moment of the scans, so that they are a snapshot. The engine
    /// must have a ``StorageBackend/log``. The scans must be the default, and the items need no places then.
    public var needsCursor: Bool

    /// A search for whose relevance the outcome has the numbers of all items; usually `nil`.
    public var ranking: StorageSearch?

    /// How to read.
    public var options: ReadOptions

    /// Whether the scans probably end after few items. An engine can then read for a short time without leaving the
    /// caller's thread, and begin again elsewhere if they don't.
    public var isShort: Bool

    /// Sets of scans. The caller needs no item that is not in one scan of each set. An engine can leave such items out,
    /// and does so with the trait ``StorageTraits/intersects`` where that saves reading them.
    public var within: [[StorageScan]]

    /// Creates a request.
    public init(
        _ scans: [StorageScan] = [.all(after: nil)], counting counted: [StorageScan] = [], upTo countLimit: Int = .max,
        fields: StorageFields = .data, needsCursor: Bool = false, ranking: StorageSearch? = nil,
        options: ReadOptions = ReadOptions(), isShort: Bool = false, within: [[StorageScan]] = []
    ) {
        (self.scans, self.counted, self.countLimit, self.within) = (scans, counted, countLimit, within)
        (self.fields, self.needsCursor, self.ranking, self.options) = (fields, needsCursor, ranking, options)
        self.isShort = isShort
    }
}

extension ScanRequest {
    /// Whether an index for searches is used.
    package var isSearch: Bool {
        ranking != nil || (scans + counted).contains { if case .search = $0 { true } else { false } }
    }
}

/// A change of an engine's items, see ``StorageBackend/apply(_:)-(StorageBatch)``.
public struct StorageBatch: Sendable {

    /// The operations, in their order.
    public var operations: [StorageOperation]

    /// What must hold for the batch to be applied. The engine must have the trait ``StorageTraits/conditional`` unless
    /// this is `nil`. Without any condition, a batch of a cache or a mirror still drops what differs.
    public var conditions: [StorageCondition]?

    /// The end of the log on which the batch is based: it is applied only if nothing was changed since. The engine must
    /// have a ``StorageBackend/database`` and a ``StorageBackend/log`` unless this is `nil`.
    public var basis: StorageCursor?

    /// The dates of written items, where they are not the time of the write. They are ignored by an engine without the
    /// trait ``StorageTraits/dated``.
    public var dates: [CacheKey: StorageDates]

    /// The origin of the change; `nil` for that of the task, see ``StorageOrigin/current``, or else that of the engine.
    public var origin: StorageOrigin?

    /// Identifies the batch, so that an engine that keeps receipts applies it once, however often it is sent; `nil` for
    /// none. Engines without receipts ignore it.
    ///
    /// An engine with the trait ``StorageTraits/receipts`` answers a batch that it has applied, and that is sent again,
    /// as applied. It must be the same byte for byte: its operations, conditions, dates, basis and origin, and those of
    /// its group. Any other batch with the identifier is refused with ``StorageError/Code/identifierUsed``. So is one
    /// that is sent again through a wrapper that stores other bytes each time, such as encryption or an expiry, or that
    /// compares the conditions itself. A batch whose conditions are not met is not applied later either.
    ///
    /// All batches of a group have the same identifier, or none. See also ``StorageDatabase/fence(_:)``.
    public var identifier: UUID?

    /// Whether the references of other items decide about removals. They don't if the batch brings what was done
    /// elsewhere, with what follows from it.
    package var heedsReferences = true

    /// Whether the changes belong together everywhere, because they are those of a transaction. Synchronization sends
    /// those of other batches without conditions item by item.
    package var isTransaction = false

    /// The batches of other engines with which it is applied, `nil` if it is applied alone.
    ///
    /// A wrapper that passes on another batch than the one that it got, gives it the same group. An engine with a
    /// ``StorageBackend/database`` of its own calls ``StorageBatchGroup/join(_:collection:_:)`` instead of applying it.
    public var group: StorageBatchGroup?

    /// Creates a batch.
    public init(
        _ operations: [StorageOperation], if conditions: [StorageCondition]? = nil,
        dates: [CacheKey: StorageDates] = [:],
        origin: StorageOrigin? = nil
    ) {
        (self.operations, self.conditions, self.dates, self.origin) = (operations, conditions, dates, origin)
    }

    /// A batch that writes items, with their dates if they have any.
    public init(writing items: [StorageItem]) {
        self.init(items.map { .write(key: $0.key, data: $0.data) })
        for item in items { if let dates = item.dates { self.dates[item.key] = dates } }
    }
}

/// A request for changes, see ``StorageLog/fetchChanges(_:)``.
public struct ChangesRequest: Sendable, Hashable {

    /// The cursor after which the changes begin.
    public var cursor: StorageCursor

    /// The origin whose own changes are omitted if there are no others.
    public var excluded: StorageOrigin?

    /// Whether the answer has all changes, with the items under the keys that other origins have written, as
    /// ``StorageDelta/items``.
    public var needsItems: Bool

    /// The origins whose items the reader has. With ``needsItems``, items that only these and the excluded origin have
    /// written may be missing in the answer, though not their changes.
    package var known: Set<StorageOrigin> = []

    /// The fields of the items.
    public var fields: StorageFields

    /// How to read the items.
    public var options: ReadOptions

    /// The requests with which an engine on a server sends this one, `nil` if it is sent alone.
    package var group: StorageChangesGroup?

    /// Creates a request.
    public init(
        since cursor: StorageCursor, excluding origin: StorageOrigin? = nil, needsItems: Bool = false,
        fields: StorageFields = .data, options: ReadOptions = ReadOptions()
    ) {
        (self.cursor, excluded, self.needsItems) = (cursor, origin, needsItems)
        (self.fields, self.options) = (fields, options)
    }
}
