/// Keeps the first matches of a query in order, and at most about twice as many as are needed.
///
/// @unchecked because an engine passes on items one at a time, and the matches are taken after the last one.
final class MatchCollector<Match>: @unchecked Sendable {
    private let query: StorageQuery<Match>
    private let plan: QueryPlan
    private let limit: Int
    private let place: QueryPlace?
    private var matches: [QueryMatch<Match>] = []
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
        self.place = place
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
        guard let match = try query.match(entry, index: plan.index, isMatch: plan.isMatch(entry)) else { return true }
        if let place, !query.isAscending(place, match.place) { return true }
        if isInOrder {
            found.count += 1
            if found.count == limit { found.lastKey = match.place.keys.first }
        }
        if let last, !query.isAscending(match.place, last) { return true }
        matches.append(match)
        if !isInOrder || query.order.count > 1 { areSorted = false }
        if limit < .max / 4, matches.count > 2 * limit + 1000 { sort() }
        return !(isInOrder && found.count >= limit && query.order.count < 2)
    }

    /// The first matches, in order.
    var first: [QueryMatch<Match>] {
        sort()
        return matches
    }

    private func sort() {
        if !areSorted { matches.sort { query.isAscending($0.place, $1.place) } }
        if matches.count > limit { matches.removeLast(matches.count - limit) }
        if matches.count == limit { last = matches.last?.place }
    }
}
