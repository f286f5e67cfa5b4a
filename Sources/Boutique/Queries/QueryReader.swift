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
        var index: IndexOrder?
        /// The errors of the records that could not be decoded or read.
        var undecodable: [StorageError] = []
        /// Whether rows come from a copy of the engine's items, such as a mirror, which may have other places for them.
        var isCopy = false
    }

    let storage: ObjectStorage<Item>
    private(set) var query: Query<Item>
    /// Whether the rows are read together with items of other engines.
    var spansEngines = false
    var sections: (any ItemSections<Item>)?

    var engine: any StorageBackend { storage.storage }

    var others: [any StorageBackend] { query.referencedEngines }

    /// The maximum number of errors that a part has.
    static var maximumErrors: Int { 1_000 }

    var hasStablePositions: Bool { engine.traits.contains(.stablePositions) }

    /// A reader of the same objects with another query.
    func changed(to query: Query<Item>) -> QueryReader {
        var reader = self
        reader.query = query
        return reader
    }

    /// Whether a cache would answer from another moment than the other engines.
    private var needsOriginal: Bool { StorageMoment.isCurrent && (spansEngines || !others.isEmpty) }

    /// Reads the items behind conditions on references, and what the relevance of items depends on.
    ///
    /// - Returns: A reader whose rows depend on no other items until these change, and the errors of records that were
    ///   omitted.
    func resolved() async throws -> (reader: QueryReader, errors: [StorageError]) {
        var reader = self
        let (query, errors) = try await query.resolved(omittingUndecodable: true)
        reader.query = try await storage.ranked(query, fromOriginal: needsOriginal)
        return (reader, Array(errors.prefix(Self.maximumErrors)))
    }

    /// Reads the first rows after another one.
    func rows(limit: Int, after row: QueryRow<Item>?) async throws -> Part {
        storage.prepareIndexes()
        return try await read { [hasStablePositions] query, engine in
            let page = try await query.page(
                from: engine, limit: limit, after: row?.place, item: row.flatMap { hasStablePositions ? $0.key : nil })
            return Part(
                rows: zip(page.matches, page.places).map(QueryRow.init), hasMore: page.hasMore, index: page.plan.order)
        }
    }

    /// Reads the rows of some items, those that match, in any order.
    func rows(of keys: [CacheKey], index: IndexOrder?) async throws -> Part {
        try await read { query, engine in
            var (matches, places): ([QueryRow<Item>.Match], [QueryPlace]) = ([], [])
            for entry in try await engine.fetchPlaced(keys: keys, index: index?.index) {
                if let place = try query.match(entry, index: index, { matches.append($0) }) { places.append(place) }
            }
            return Part(rows: zip(matches, places).map(QueryRow.init))
        }
    }

    /// Returns whether one place is before another.
    func comparison() throws -> @Sendable (QueryPlace, QueryPlace) -> Bool {
        // The order does not depend on the items behind references, which may not be read yet.
        try rowQuery(query.withoutReferences) { _ in }.isAscending
    }

    private func read(
        _ body: @Sendable (RowQuery, StorageReader) async throws -> Part
    ) async throws -> Part {
        try await storage.learnFromStoredObjects(for: query)
        let errors = Locked<[CacheKey: StorageError]>([:])
        let query = try rowQuery(query) { error in
            guard let key = error.key else { return }
            errors.withLock { if $0.count < Self.maximumErrors { $0[key] = error } }
        }
        let options = ReadOptions(omitsUnreadable: true, needsOriginal: needsOriginal)
        let reader = StorageReader(engine, options: options)
        var part = try await body(query, reader)
        part.undecodable = errors.withLock { Array($0.values) } + reader.unreadable.prefix(Self.maximumErrors)
        part.isCopy = reader.sources.contains(.copy)
        return part
    }

    private func rowQuery(
        _ query: Query<Item>, _ undecodable: @escaping @Sendable (StorageError) -> Void
    ) throws -> RowQuery {
        try query.running(decodedBy: storage.coder, undecodable: undecodable).map { entry, match in
            var hasher = Hasher()
            entry.data.withUnsafeBytes { hasher.combine(bytes: $0) }
            return (match.key, match.object, hasher.finalize())
        }
    }
}
