/// Keeps the first matches of a query in order, and at most about twice as many as are needed.
///
/// @unchecked because an engine passes on items one at a time, and the matches are taken after the last one.
final class MatchCollector<Match>: @unchecked Sendable {
    private let query: StorageQuery<Match>
    private let plan: QueryPlan
    private let limit: Int
    /// The place after which matches are needed.
    private let start: QueryPlace?
    private var matches: [Match] = []
    private var places: [QueryPlace] = []
    /// Whether the matches are in order, because all come from scans that are.
    private var areSorted = true
    /// The place of the last match that is needed, once that many were found.
    private var last: QueryPlace?
    /// The number of matches of scans in the order of the result, and the first sort key of the last one that is needed.
    private var found: (count: Int, lastKey: StorageSortKey?) = (0, nil)

    /// - Parameters:
    ///   - query: The query.
    ///   - plan: How items are read.
    ///   - limit: The number of matches that are needed.
    ///   - place: The place after which matches begin.
    init(_ query: StorageQuery<Match>, _ plan: QueryPlan, limit: Int, after place: QueryPlace?) {
        self.query = query
        self.plan = plan
        self.limit = limit
        start = place
    }

    /// Examines an item.
    ///
    /// - Returns: Whether the scan can have more matches that are needed.
    @Sendable func receive(_ scan: Int, _ entry: StorageEntry) throws -> Bool {
        let isInOrder = scan >= plan.firstInOrder
        // With several terms, more items can have the first sort key of the last match.
        if isInOrder, found.count >= limit, query.order.count < 2 || entry.place.sortKey != found.lastKey {
            return false
        }
        let isMatch = plan.isMatch(entry)
        guard let place = try query.match(entry, index: plan.index, isMatch: isMatch, append) else { return true }
        guard isNeeded(place, isInOrder: isInOrder) else {
            matches.removeLast()
            return true
        }
        places.append(place)
        if !isInOrder || query.order.count > 1 { areSorted = false }
        if limit < .max / 4, places.count > 2 * limit + 1000 { sort() }
        return !(isInOrder && found.count >= limit && query.order.count < 2)
    }

    private func append(_ match: Match) { matches.append(match) }

    private func isNeeded(_ place: QueryPlace, isInOrder: Bool) -> Bool {
        if let start, !query.isAscending(start, place) { return false }
        if isInOrder {
            found.count += 1
            if found.count == limit { found.lastKey = place.keys.first }
        }
        return last.map { query.isAscending(place, $0) } ?? true
    }

    /// The first matches, in order. Nothing can be received after this.
    ///
    /// - Parameter count: The maximum number of matches.
    func first(_ count: Int) -> QueryMatches<Match> {
        sort()
        let hasMore = places.count > count
        if hasMore { removeLast(places.count - count) }
        return QueryMatches(matches: matches, places: places, hasMore: hasMore, plan: plan)
    }

    private func sort() {
        if !areSorted {
            let (oldMatches, oldPlaces, terms) = (matches, places, query.order)
            let order = oldPlaces.indices.sorted { terms.isAscending(oldPlaces[$0], oldPlaces[$1]) }.prefix(limit)
            matches = order.map { oldMatches[$0] }
            places = order.map { oldPlaces[$0] }
        } else if places.count > limit {
            removeLast(places.count - limit)
        }
        if places.count == limit { last = places.last }
    }

    private func removeLast(_ count: Int) {
        matches.removeLast(count)
        places.removeLast(count)
    }
}
