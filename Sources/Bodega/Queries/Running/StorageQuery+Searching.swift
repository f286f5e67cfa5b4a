extension StorageQuery {

    /// The search that finds all matches, if the engine has its index.
    func usableSearch(on engine: StorageReader) async throws -> StorageSearch? {
        guard let search, search.isServedByIndex, try await engine.hasSearchIndex(search.index) else { return nil }
        return search
    }

    /// Chooses how to read by a search, or by an index that finds fewer items.
    func plan(
        by search: StorageSearch, on engine: StorageReader, with indexes: [StorageIndex], after place: QueryPlace?
    ) async throws -> QueryPlan {
        if search.relevance != nil {
            return try await narrowed(insteadOfRanking: indexes, on: engine, after: place)
                ?? found(by: search, after: place)
        }
        let best = try await smallest(of: indexes, or: search, in: engine, upTo: fewCandidates)
        guard let best else { return found(by: search, after: place) }
        return try await narrowed(by: best, and: indexes, on: engine, after: place)
    }

    /// Reads the few items that an index finds, whose texts say how relevant they are. A search in the order of
    /// relevance ranks all that it finds.
    ///
    /// - Returns: `nil` if no index finds few.
    func narrowed(
        insteadOfRanking indexes: [StorageIndex], on engine: StorageReader, after place: QueryPlace?
    ) async throws -> QueryPlan? {
        let best = try await smallest(of: indexes, in: engine, upTo: manyCandidates)
        guard let best, best.count <= manyCandidates else { return nil }
        return try await narrowed(by: best, and: indexes, on: engine, after: place)
    }

    /// Reads what a search finds, and sorts the matches if they do not come in the order of the result.
    func found(by search: StorageSearch, after place: QueryPlace?) -> QueryPlan {
        var search = search
        let isInOrder = order.isEmpty || search.relevance != nil
        if !isInOrder { search.relevance = nil }
        if isInOrder, let place {
            search.place = StoragePlace(sortKey: place.keys.first, position: place.position)
        }
        let order = search.relevance != nil ? ", in the order of relevance" : ", in insertion order"
        return QueryPlan(
            scans: [.search(search)], firstInOrder: isInOrder ? 0 : 1, termCounts: isInOrder ? [self.order.count] : [],
            explanation:
                "finds items by words in the index \(search.index)\(isInOrder ? order : " and sorts the matches")"
        )
    }
}
