/// Reads the items of a query, and collects what the answers report.
package struct StorageReader: Sendable {
    private let engine: any StorageBackend
    private let options: ReadOptions
    /// The keys of all items, in the order in which parts are read; `nil` if items have stable positions, or if the
    /// query reads one part only.
    private var keys: [CacheKey]?
    private let state = Locked(State())

    private struct State {
        var unreadable: [StorageError] = []
        var unreadableKeys: Set<CacheKey> = []
        var sources: StorageReport.Sources = []
        var itemCount = 0
    }

    package init(_ engine: any StorageBackend, options: ReadOptions = ReadOptions()) {
        (self.engine, self.options) = (engine, options)
    }

    /// A reader that can continue a scan after an item, see ``StorageTraits/stablePositions``.
    package func continuing() async throws -> StorageReader {
        if hasStablePositions { return self }
        var reader = self
        reader.keys = try await engine.fetchKeys(options: options)
        return reader
    }

    package var hasStablePositions: Bool { engine.traits.contains(.stablePositions) }

    /// Whether scans don't read what is not in certain sets, see ``ScanRequest/within``.
    var intersects: Bool { engine.traits.contains(.intersects) }

    /// The errors of the items that were left out, one for each key.
    package var unreadable: [StorageError] { state.withLock { $0.unreadable } }

    /// Where the answers came from.
    package var sources: StorageReport.Sources { state.withLock { $0.sources } }

    /// The number of items that the engine has passed on, including those of a read that it began again. Items that are
    /// only counted are not among them.
    package var itemCount: Int { state.withLock { $0.itemCount } }

    /// - Parameters:
    ///   - sets: See ``ScanRequest/within``.
    ///   - isShort: See ``ScanRequest/isShort``.
    package func scan(
        _ scans: [StorageScan], within sets: [[StorageScan]] = [], isShort: Bool = false,
        _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws {
        let request = ScanRequest(scans, options: options, isShort: isShort, within: sets)
        _ = try await noting(scan(request, begin))
    }

    /// Counts the items of scans with one request, up to a limit.
    package func count(_ scans: [StorageScan], upTo limit: Int) async throws -> Int {
        if scans.isEmpty { return 0 }
        let request = ScanRequest(
            [], counting: scans, upTo: limit, options: options, isShort: limit <= Self.shortCount)
        return try await noting(self.scan(request) { { _, _ in true } }).count
    }

    /// The number of items that an engine counts in a short time.
    private static let shortCount = 20_000

    /// Counts the items of scans, and passes on those of others, from the same moment.
    package func count(
        _ counted: [StorageScan], reading scans: [StorageScan],
        _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int {
        try await noting(scan(ScanRequest(scans, counting: counted, options: options), begin)).count
    }

    package func fetchCount() async throws -> Int { try await count([.all(after: nil)], upTo: .max) }

    package func fetch(keys: [CacheKey]) async throws -> [StorageItem] {
        try await fetch(FetchRequest(keys, options: options))
    }

    private func fetch(_ request: FetchRequest) async throws -> [StorageItem] {
        let items = try await noting(engine.fetch(request))
        state.withLock { $0.itemCount += items.count }
        return items
    }

    /// Reads items with their places in the order of an index.
    package func fetchPlaced(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageItem] {
        try await fetch(FetchRequest(keys, [.data, .place], index: index, options: options))
    }

    /// The indexes with an order.
    package func fetchIndexes() async throws -> Set<StorageIndex> {
        try await engine.indexes?.fetchIndexes().filter { $0.searchForm == nil } ?? []
    }

    /// Whether the engine has an index for searches.
    package func hasSearchIndex(_ index: StorageIndex) async throws -> Bool {
        try await engine.indexes?.fetchIndexes().contains(index) ?? false
    }

    /// What the relevance of items depends on, by an index for searches.
    package func fetchRanking(of search: StorageSearch) async throws -> SearchRanking? {
        try await noting(scan(ScanRequest([], ranking: search, options: options)) { { _, _ in true } }).ranking
    }

    private func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        let begin = { @Sendable [state] in
            let receive = try begin()
            return { @Sendable number, item in
                state.withLock { $0.itemCount += 1 }
                return try receive(number, item)
            }
        }
        guard let keys else { return try await engine.scan(request, begin) }
        return try await engine.scanByKeys(request, keys: keys, begin)
    }

    private func noting<Value>(_ answer: StorageAnswer<Value>) -> Value {
        state.withLock { state in
            for error in answer.report.unreadable {
                if let key = error.key, state.unreadableKeys.insert(key).inserted { state.unreadable.append(error) }
            }
            state.sources.formUnion(answer.report.sources)
        }
        return answer.value
    }
}
