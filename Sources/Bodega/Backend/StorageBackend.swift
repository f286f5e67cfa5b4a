public import Foundation

/// An engine with few methods, whose requests and answers are values.
///
/// Stores, queries and wrappers use engines in this form. Every ``StorageEngine`` has one; see
/// ``StorageEngine/backend``. An engine that conforms to this protocol is its own backend. Any other engine, such as
/// one that was written for Bodega 2, is adapted, and has no log, no indexes and no conditions.
///
/// | Method | Does |
/// | --- | --- |
/// | ``StorageEngine/fetch(key:)`` | reads one item, as fast as possible |
/// | ``fetch(_:)`` | reads items under some keys |
/// | ``scan(_:_:)`` | reads or counts items in an order, all from one moment |
/// | ``apply(_:)`` | changes items, all or none if it can |
/// | ``apply(_:key:)`` | writes one large item |
///
/// All members of `StorageEngine` follow from these. Implement others, such as ``StorageEngine/fetchAll()``, only where
/// that is faster.
///
/// The capabilities that only some engines have are properties: ``log``, ``indexes``, ``database``, ``references`` and
/// ``traits``. By default, a wrapper passes them on; see ``ForwardingStorageEngine`` and ``TransformingStorageEngine``.
public protocol StorageBackend: ThrowingStorageEngine {

    /// Reads items under some keys, in the order of the keys.
    ///
    /// - Returns: The items that exist.
    /// - Throws: A ``StorageError``.
    func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]>

    /// Passes on the items of scans, one scan after the other, and counts those of others, all from one moment if the
    /// engine can.
    ///
    /// - Parameters:
    ///   - request: What to read.
    ///   - begin: Called before the first item, and again if the engine has to start again with the first item.
    /// - Throws: A ``StorageError``, or the error that the receiver has thrown.
    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome>

    /// Changes items, in the order of the operations: all of them or none if ``traits`` contain
    /// ``StorageTraits/atomic``.
    ///
    /// - Throws: A ``StorageError``. If a connection has failed, the batch may have been applied.
    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome>

    /// Writes one item from a stream. By default, the item is read into memory first.
    func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome>

    /// The log of changes, `nil` if the engine has none.
    var log: (any StorageLog)? { get }

    /// The indexes, `nil` if the engine can have none. Its queries then read all items.
    var indexes: (any StorageIndexes)? { get }

    /// The collections with which the engine's can change in one transaction, `nil` if there are none.
    ///
    /// A wrapper that applies each batch as one batch of its base has that of the base, see ``StorageBatch/group``.
    var database: (any StorageDatabase)? { get }

    /// The references of the items to items of other collections, `nil` if the engine can keep none.
    var references: (any StorageReferences)? { get }

    /// What the engine can do, and what a caller has to expect.
    var traits: StorageTraits { get }

    /// The time by which items expire, see ``StorageTraits/expires``.
    func now() -> Date

    /// Reads everything that the engine has stored, and reports damage, but repairs nothing.
    ///
    /// - Returns: The findings, none if the engine can't examine itself.
    func examine() async throws -> [StorageFinding]
}

extension StorageBackend {
    public var log: (any StorageLog)? { nil }

    public var indexes: (any StorageIndexes)? { nil }

    public var database: (any StorageDatabase)? { nil }

    public var references: (any StorageReferences)? { nil }

    public func now() -> Date { Date() }

    public func examine() async throws -> [StorageFinding] { [] }

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try await apply(StorageBatch([.write(key: key, data: stream.data())]))
    }
}

/// The guarantees and the limits of an engine. Wrappers add their own.
public struct StorageTraits: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A batch is applied as a whole or not at all, also after a crash.
    public static let atomic = StorageTraits(rawValue: 1 << 0)

    /// The engine applies batches with ``StorageBatch/conditions``.
    public static let conditional = StorageTraits(rawValue: 1 << 1)

    /// The engine keeps ``StorageBatch/dates``.
    public static let dated = StorageTraits(rawValue: 1 << 2)

    /// An item keeps its ``StorageItem/position`` while it exists, so that a scan can be continued after it.
    public static let stablePositions = StorageTraits(rawValue: 1 << 3)

    /// A change that has begun ends only when it is applied or has failed, even if its task is cancelled.
    public static let ignoresCancellation = StorageTraits(rawValue: 1 << 4)

    /// The engine removes items on its own to keep within a limit. After a write has thrown, any item may be gone.
    public static let evicts = StorageTraits(rawValue: 1 << 5)

    /// Items expire; see ``StorageFields/expiry``.
    public static let expires = StorageTraits(rawValue: 1 << 6)

    /// Scans leave out items that are not in ``ScanRequest/within``, without reading them.
    public static let intersects = StorageTraits(rawValue: 1 << 7)

    /// The engine applies a batch with an identifier once, see ``StorageBatch/identifier``. Its
    /// ``StorageBackend/database`` can fence one, see ``StorageDatabase/fence(_:)``.
    public static let receipts = StorageTraits(rawValue: 1 << 8)
}

/// The log of an engine's changes, whether this process, another process or another machine makes them.
///
/// It lists the changes in the order in which they took effect. A ``StorageCursor`` is a place in the log that survives
/// restarts. From a cursor on, each change is reported once, and none is omitted. The log begins with the first call,
/// and it is bounded: a cursor that is older than its oldest entry, or that belongs to another log, gets a snapshot
/// instead.
///
/// Consecutive writes of one key in one batch may be one change, because only the last of them is ever visible.
///
/// A change has a key and no data. Reading the key returns the item as this change or a later one left it.
///
/// Each batch has an origin: ``StorageBatch/origin``, or ``StorageOrigin/current``, or one of the engine's own.
///
/// ``MemoryStorageEngine``, ``SQLiteStorageEngine`` and the engine of the module BodegaPostgres have a log.
public protocol StorageLog: Sendable {

    /// Returns the cursor at the end of the log.
    ///
    /// - Throws: A ``StorageError`` if it could not be read, or if there is no log yet and none can be begun, for
    ///   example in a file that is opened read-only.
    func fetchCursor() async throws -> StorageCursor

    /// Reads changes after a cursor, without waiting for any.
    ///
    /// With ``ChangesRequest/needsItems``, the answer has all changes, and the items under the changed keys right after
    /// the last of them. An item that is read later than its change can be newer than the change, and is then reported
    /// again. A reader that shows items and continues at the cursor of this answer shows each version once.
    ///
    /// - Returns: The changes in order, not necessarily all of them, see ``StorageDelta/isComplete``. `nil` if the log
    ///   does not reach back to the cursor, or is another one, see ``StorageReport/isOtherLog``; read a snapshot then,
    ///   see ``ScanRequest/needsCursor``.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?>

    /// Signals that there may be changes: immediately, and then after each change, or after several. The stream ends
    /// when the engine is closed.
    ///
    /// - Parameter origin: An origin whose own changes need not be signaled.
    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void>
}

/// The indexes of an engine.
public protocol StorageIndexes: Sendable {

    /// The existing indexes.
    func fetchIndexes() async throws -> Set<StorageIndex>

    /// Creates an index, unless it exists.
    func createIndex(_ index: StorageIndex) async throws

    /// Creates an index, unless it exists, and reports the progress.
    ///
    /// By default, this calls ``createIndex(_:)`` and reports nothing.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - progress: Receives the number of items that were read so far, and the number of all. Both may be estimates.
    func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws

    /// Removes an index, if it exists.
    func removeIndex(_ index: StorageIndex) async throws
}

extension StorageIndexes {

    public func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        try await createIndex(index)
    }
}
