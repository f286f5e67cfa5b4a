public import Foundation

// The members of StorageEngine that follow from requests.
extension StorageBackend {

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await fetch(FetchRequest(keys)).value.map { ($0.key, $0.data) }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await scanned(.data) { ($0.key, $0.data) }
    }

    public func fetchAllData() async throws -> [Data] {
        try await scanned(.data, \.data)
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await scanned([], \.key)
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await fetch(FetchRequest(candidates, [])).value.map(\.key)
    }

    public func fetchCount() async throws -> Int {
        try await count(.all(after: nil))
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await fetch(FetchRequest([key], .dates)).value.first?.dates
    }

    public func write(stream: StorageByteStream, key: CacheKey) async throws {
        _ = try await apply(stream, key: key)
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        _ = try await apply(StorageBatch(operations))
    }

    private func scanned<Element: Sendable>(
        _ fields: StorageFields, _ element: @escaping @Sendable (StorageItem) -> Element
    ) async throws -> [Element] {
        let elements = Locked<[Element]>([])
        _ = try await scan(ScanRequest(fields: fields)) {
            elements.withLock { $0 = [] }
            return { _, item in
                elements.withLock { $0.append(element(item)) }
                return true
            }
        }
        return elements.withLock { $0 }
    }
}

// Requests by their arguments.
extension StorageBackend {

    /// Applies operations if conditions are met.
    ///
    /// - Returns: Whether the conditions were met.
    /// - Throws: A ``StorageError``, with the code ``StorageError/Code/invalidArgument`` if the engine has no
    ///   conditions.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        try await apply(StorageBatch(operations, if: conditions)).value.wasApplied
    }

    /// Reads items with their dates, in the order of the keys.
    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        try await fetch(FetchRequest(keys, [.data, .dates])).value
    }

    /// Reads the dates of all items.
    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await scanned(.dates) { item in item.dates.map { (item.key, $0) } }.compactMap { $0 }
    }

    /// Writes items with the dates that they have, see ``StorageBatch/dates``.
    public func write(items: [StorageItem]) async throws {
        _ = try await apply(StorageBatch(writing: items))
    }

    /// Passes on the items of scans, see ``scan(_:_:)-(ScanRequest,_)``.
    public func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        _ = try await scan(ScanRequest(scans), begin)
    }

    /// Counts the items of a scan.
    ///
    /// - Parameters:
    ///   - scan: The scan.
    ///   - limit: The number at which counting ends.
    public func count(_ scan: StorageScan, upTo limit: Int = .max) async throws -> Int {
        try await self.scan(ScanRequest([], counting: [scan], upTo: limit)) { { _, _ in true } }.value.count
    }

    /// The existing indexes.
    public func fetchIndexes() async throws -> Set<StorageIndex> { try await indexes?.fetchIndexes() ?? [] }

    /// Creates an index, unless it exists.
    ///
    /// - Throws: A ``StorageError``, with the code ``StorageError/Code/invalidArgument`` if the engine can have none.
    public func createIndex(_ index: StorageIndex) async throws {
        guard let indexes else { throw StorageError.missingIndexes }
        try await indexes.createIndex(index)
    }

    /// Removes an index, if it exists.
    public func removeIndex(_ index: StorageIndex) async throws { try await indexes?.removeIndex(index) }

    /// The end of the log.
    ///
    /// - Throws: A ``StorageError``, with the code ``StorageError/Code/invalidArgument`` if the engine has no log.
    public func fetchCursor() async throws -> StorageCursor { try await requiredLog().fetchCursor() }

    /// All items, with the end of the log at the same moment.
    public func fetchSnapshot() async throws -> StorageSnapshot {
        let items = Locked<[(key: CacheKey, data: Data)]>([])
        let answer = try await scan(ScanRequest(needsCursor: true)) {
            items.withLock { $0 = [] }
            return { _, item in
                items.withLock { $0.append((item.key, item.data)) }
                return true
            }
        }
        guard let cursor = answer.value.cursor else { throw StorageError.missingLog }
        return StorageSnapshot(items: items.withLock { $0 }, cursor: cursor)
    }

    /// The next changes after a cursor, see ``StorageLog/fetchChanges(_:)``.
    public func fetchChanges(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        try await requiredLog().fetchChanges(ChangesRequest(since: cursor, excluding: origin)).value
    }

    /// All changes after a cursor, with items, see ``ChangesRequest/needsItems``.
    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        try await requiredLog().fetchChanges(ChangesRequest(since: cursor, excluding: origin, needsItems: true)).value
    }

    /// Signals that there may be changes; none without a log.
    public func changeSignals() -> AsyncStream<Void> {
        log?.changeSignals(excluding: nil) ?? AsyncStream { $0.finish() }
    }

    private func requiredLog() throws -> any StorageLog {
        guard let log else { throw StorageError.missingLog }
        return log
    }
}

extension StorageError {
    static let missingLog = StorageError(
        .invalidArgument, "The engine has no log of its changes. Follow another engine, or read its items again.")

    package static let missingConditions = StorageError(
        .invalidArgument, "The engine has no conditional batches. Apply the operations without conditions.")

    static let missingIndexes = StorageError(
        .invalidArgument, "The engine has no indexes. Its queries read all items.")

    /// The error of a scan after a place in a range that is not of the last member.
    static let hasNoPlaces = StorageError(
        .invalidArgument, "A range of a compound index has places only if it is of the last member.")

    static let needsSortKey = StorageError(
        .invalidArgument, "A place in the order of an index needs a sort key.")
}
