import Bodega
import Foundation

/// Reads the rows of a window, off the main actor.
struct QueryReader<Item: StorableItem>: Sendable {
    private typealias RowQuery = StorageQuery<QueryRow<Item>.Match>

    /// What was read.
    struct Part: Sendable {
        var rows: [QueryRow<Item>]
        /// Whether there are more rows after these.
        var hasMore = false
        /// The index whose order the rows have.
        var index: StorageIndex?
        /// The errors of the records that could not be decoded or read.
        var undecodable: [StorageError] = []
        /// Whether rows come from a copy of the engine's items, such as a mirror, which may have other places for them.
        var isCopy = false
    }

    let storage: ObjectStorage<Item>
    let query: Query<Item>

    var engine: any StorageBackend { storage.storage }

    /// The maximum number of errors that a part has.
    static var maximumErrors: Int { 1_000 }

    /// The maximum number of changed items that are read one by one instead of all rows.
    private var maximumChanges: Int { 10_000 }

    private var hasStablePositions: Bool { engine.traits.contains(.stablePositions) }

    /// Reads the first rows after another one.
    func rows(limit: Int, after row: QueryRow<Item>?) async throws -> Part {
        storage.prepareIndexes()
        return try await read { [hasStablePositions] query, engine in
            let page = try await query.page(
                from: engine, limit: limit, after: row?.place, item: row.flatMap { hasStablePositions ? $0.key : nil })
            return Part(
                rows: zip(page.matches, page.places).map(QueryRow.init), hasMore: page.hasMore, index: page.plan.index)
        }
    }

    /// Reads the rows of some items, those that match, in any order.
    func rows(of keys: [CacheKey], index: StorageIndex?) async throws -> Part {
        try await read { query, engine in
            var (matches, places): ([QueryRow<Item>.Match], [QueryPlace]) = ([], [])
            for entry in try await engine.fetchPlaced(keys: keys, index: index) {
                if let place = try query.match(entry, index: index, { matches.append($0) }) { places.append(place) }
            }
            return Part(rows: zip(matches, places).map(QueryRow.init))
        }
    }

    /// Returns the end of the log; `nil` if the engine has none, so that its changes can't be followed.
    func cursor() async throws -> StorageCursor? {
        do {
            return try await engine.log?.fetchCursor()
        } catch let error as StorageError where error.code == .readOnly {
            // A file that is read without a log.
            return nil
        }
    }

    /// The items that have changed.
    struct Changes {
        var keys: Set<CacheKey> = []
        /// Whether any of them may belong to a transaction over several collections. Programs without this package
        /// don't say so.
        var maySpanCollections = false
        /// The place in the log after them.
        var cursor: StorageCursor

        /// The keys of the items that are read with one call.
        var parts: [[CacheKey]] {
            let keys = Array(keys)
            return stride(from: 0, to: keys.count, by: 512).map { Array(keys[$0..<min($0 + 512, keys.count)]) }
        }
    }

    /// Reads which items have changed since a place in the log.
    ///
    /// - Returns: `nil` if all rows must be read: the log does not reach back, too much has changed, or a removal
    ///   changes the places of other items.
    func changes(since start: StorageCursor) async throws -> Changes? {
        guard let log = engine.log, hasStablePositions else { return nil }
        var (changes, isComplete) = (Changes(cursor: start), false)
        while !isComplete {
            guard let delta = try await log.fetchChanges(ChangesRequest(since: changes.cursor)).value else {
                return nil
            }
            changes.keys.formUnion(delta.changes.lazy.map(\.key))
            if delta.changes.contains(where: { $0.origin?.isShared ?? true }) { changes.maySpanCollections = true }
            if changes.keys.count > maximumChanges { return nil }
            (changes.cursor, isComplete) = (delta.cursor, delta.isComplete)
        }
        return changes
    }

    /// Returns whether one place is before another.
    func comparison() throws -> @Sendable (QueryPlace, QueryPlace) -> Bool {
        try rowQuery { _ in }.isAscending
    }

    private func read(
        _ body: @Sendable (RowQuery, StorageReader) async throws -> Part
    ) async throws -> Part {
        try await storage.learnFromStoredObjects()
        let errors = Locked<[CacheKey: StorageError]>([:])
        let query = try rowQuery { error in
            guard let key = error.key else { return }
            errors.withLock { if $0.count < Self.maximumErrors { $0[key] = error } }
        }
        let reader = StorageReader(engine, options: ReadOptions(omitsUnreadable: true))
        var part = try await body(query, reader)
        part.undecodable = errors.withLock { Array($0.values) } + reader.unreadable.prefix(Self.maximumErrors)
        part.isCopy = reader.sources.contains(.copy)
        return part
    }

    private func rowQuery(_ undecodable: @escaping @Sendable (StorageError) -> Void) throws -> RowQuery {
        try query.running(decodedBy: storage.coder, undecodable: undecodable).map { entry, match in
            var hasher = Hasher()
            entry.data.withUnsafeBytes { hasher.combine(bytes: $0) }
            return (match.key, match.object, hasher.finalize())
        }
    }
}
