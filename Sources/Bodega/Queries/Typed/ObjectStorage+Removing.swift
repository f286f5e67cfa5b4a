extension ObjectStorage {

    /// Removes the objects that match a query, in batches of at most 500.
    ///
    /// On an engine with ``StorageTraits/conditional``, an object that is changed by others in the meantime is removed
    /// only if it still matches. One that others make match in the meantime may stay. If the call fails, or the program
    /// ends, some of the objects may have been removed. Then call it again.
    ///
    /// - Parameters:
    ///   - query: The query. Its order does not matter.
    ///   - omittingUndecodable: Whether records that can't be decoded stay; otherwise such a record is an error.
    /// - Returns: The number of removed objects. Those that follow, because of a ``Reference`` to an object that
    ///   matches, don't count, even if they match themselves.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    @discardableResult
    public func removeObjects(matching query: Query<Object>, omittingUndecodable: Bool = false) async throws -> Int {
        try await declareReferences()
        prepareIndexes()
        let unordered = query.unordered
        var count = 0
        // The end of the last batch. Beginning from the front would read what doesn't match once for each batch.
        var (place, item): (QueryPlace?, CacheKey?) = (nil, nil)
        while true {
            let page = try await reading(unordered, omittingUndecodable, fromOriginal: true) {
                [place, item] query, engine in
                try await query.map(MatchParts<Object>().condition).page(
                    from: engine, limit: 500, after: place, item: item)
            }.value
            let batch = batch(page.matches.map { .remove(key: $0.key) }, if: page.matches)
            if page.matches.isEmpty { return count }
            guard try await storage.apply(batch).value.wasApplied else { continue }
            count += page.matches.count
            if !page.hasMore { return count }
            if storage.traits.contains(.stablePositions) { (place, item) = (page.places.last, page.matches.last?.key) }
        }
    }
}

/// What is kept of a match.
///
/// @unchecked because it has no state: a closure in a generic method captures the type of the objects, which need not
/// be `Sendable`.
struct MatchParts<Object>: @unchecked Sendable {
    @Sendable func key(_ entry: StorageItem, _ match: Query<Object>.Match) -> CacheKey { entry.key }

    @Sendable func condition(_ entry: StorageItem, _ match: Query<Object>.Match) -> StorageCondition {
        StorageCondition(key: entry.key, data: entry.data)
    }
}
