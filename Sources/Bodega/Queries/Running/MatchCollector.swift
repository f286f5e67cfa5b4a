/// Keeps the first matches of a query in order, and at most about twice as many as are needed.
///
/// 1. An item that comes in the order of the result is examined when it comes, until there are enough matches.
/// 2. Another item waits as a candidate, undecoded, if its place is known without decoding it. It is dropped when there
///    are enough matches before it.
/// 3. When there are many candidates, those that may match are examined in order, until there are enough matches and
///    candidates that match for sure. The rest is dropped.
/// 4. At the end, the candidates that are left are examined. So the number of decoded objects is that of the matches
///    that are needed, not that of the items.
/// 5. A candidate that matches for sure but can't be decoded, and is left out, can have displaced another one. Then
///    ``first(_:)`` has no result, and a careful collector reads again, which examines each candidate before it counts.
///
/// @unchecked because an engine passes on items one at a time, and the matches are taken after the last one.
final class MatchCollector<Match>: @unchecked Sendable {
    private let query: StorageQuery<Match>
    private let plan: QueryPlan
    private let limit: Int
    /// The place after which matches are needed.
    private let start: QueryPlace?
    private let isCareful: Bool
    private var matches: [Match] = []
    private var places: [QueryPlace] = []
    private var candidates: [QueryCandidate] = []
    private var candidateBytes = 0
    /// Whether a candidate was dropped for another one, or those that come after the last match were not read.
    private var hasDropped = false
    /// Whether the matches are in order.
    private var areSorted = true
    /// The place of the last match that is needed, once that many were found.
    private var last: QueryPlace?
    /// The number of matches of scans in the order of the result, and the first sort key of the last one that is
    /// needed.
    private var found: (count: Int, lastKey: StorageSortKey?) = (0, nil)
    /// The first sort key of the candidates of a scan in order.
    private var group: StorageSortKey?
    /// The number of items in the order of the result that may still come.
    private var budget: Int
    /// Whether more items came in the order of the result than the budget allows, so that the matches are incomplete.
    private(set) var isExhausted = false

    /// - Parameters:
    ///   - query: The query.
    ///   - plan: How items are read.
    ///   - limit: The number of matches that are needed.
    ///   - place: The place after which matches begin.
    ///   - budget: The maximum number of items in the order of the result.
    ///   - isCareful: Whether candidates that match for sure are examined like others.
    init(
        _ query: StorageQuery<Match>, _ plan: QueryPlan, limit: Int, after place: QueryPlace?, budget: Int = .max,
        isCareful: Bool = false
    ) {
        self.query = query
        self.plan = plan
        self.limit = limit
        self.budget = budget
        self.isCareful = isCareful
        start = place
    }

    /// Receives an item.
    ///
    /// - Returns: Whether the scan can have more matches that are needed.
    @Sendable func receive(_ scan: Int, _ entry: StorageItem) throws -> Bool {
        let isInOrder = scan >= plan.firstInOrder
        if isInOrder {
            if try isComplete(before: entry) { return false }
            if budget == 0 {
                isExhausted = true
                return false
            }
            budget -= 1
        }
        // With one term, the place in the scan is that in the result.
        if !isInOrder || query.order.count > 1, limit < .max, let glance = query.glance {
            switch try glance(entry) {
            case .excluded: return true
            case .keys(let keys, let isMatch):
                let place = query.place(of: entry, keys: keys, index: plan.index)
                if !isBeforeLast(place) { return true }
                // Many candidates would be examined in one piece.
                if isMatch || limit <= 256 {
                    try wait(QueryCandidate(place: place, entry: entry, isMatch: isMatch && !isCareful))
                    return true
                }
            case .nothing: break
            }
        }
        guard let place = try match(entry) else { return true }
        guard isNeeded(place, isInOrder: isInOrder) else {
            matches.removeLast()
            return true
        }
        // An item in the order of its scan can come before candidates of earlier scans that were examined.
        if let last = places.last, !query.isAscending(last, place) { areSorted = false }
        places.append(place)
        if isFull { try settle() }
        return !(isInOrder && found.count >= limit && query.order.count < 2)
    }

    /// Whether an item in the order of the result, and all after it, come after the last match that is needed.
    private func isComplete(before entry: StorageItem) throws -> Bool {
        // With several terms, more items can have the first sort key of the last match.
        if found.count >= limit, query.order.count < 2 || entry.sortKey != found.lastKey { return true }
        guard query.order.count > 1, let key = entry.sortKey, key != group else { return false }
        group = key
        if !candidates.isEmpty, candidates.count + places.count >= limit { try settle() }
        guard let last else { return false }
        let ends = [last.keys[0], key].map { QueryPlace(QueryKeys([$0]), position: 0) }
        guard [query.order[0]].isAscending(ends[0], ends[1]) else { return false }
        // The matches up to the last one may include candidates that can't be decoded.
        hasDropped = true
        return true
    }

    private func match(_ entry: StorageItem) throws -> QueryPlace? {
        try query.match(entry, index: plan.index, isMatch: plan.isMatch(entry)) { matches.append($0) }
    }

    private func wait(_ candidate: QueryCandidate) throws {
        candidates.append(candidate)
        candidateBytes += candidate.entry.data.count
        if isFull { try settle() }
    }

    private var isFull: Bool {
        limit < .max / 4
            && (candidates.count + places.count > limit + max(limit, 256)
                || candidateBytes > 8 << 20 && candidates.count > limit)
    }

    private func isBeforeLast(_ place: QueryPlace) -> Bool {
        if let start, !query.isAscending(start, place) { return false }
        if let last, !query.isAscending(place, last) {
            hasDropped = true
            return false
        }
        return true
    }

    private func isNeeded(_ place: QueryPlace, isInOrder: Bool) -> Bool {
        if let start, !query.isAscending(start, place) { return false }
        if isInOrder {
            found.count += 1
            if found.count == limit { found.lastKey = place.keys.first }
        }
        return isBeforeLast(place)
    }

    /// The first matches, in order. Nothing can be received after this.
    ///
    /// - Parameter count: The maximum number of matches.
    /// - Returns: `nil` if matches were dropped in favor of items that can't be decoded.
    func first(_ count: Int) async throws -> QueryMatches<Match>? {
        sortAll()
        var pace = ScanPace()
        let waiting = candidates
        candidates = []
        let found = places.count
        var before = 0
        for candidate in waiting {
            while before < found, query.isAscending(places[before], candidate.place) { before += 1 }
            if before + places.count - found >= limit { break }
            try await pace.count(candidate.entry.data)
            if let place = try match(candidate.entry) { places.append(place) }
        }
        if places.count > found { areSorted = false }
        sort()
        if hasDropped, places.count < limit { return nil }
        let hasMore = places.count > count
        if hasMore { removeLast(places.count - count) }
        return QueryMatches(matches: matches, places: places, hasMore: hasMore, plan: plan)
    }

    private func sortAll() {
        sort()
        let order = query.order
        candidates.sort { order.isAscending($0.place, $1.place) }
    }

    /// Drops what comes after enough matches and candidates that match for sure. Other candidates are examined before
    /// that.
    private func settle() throws {
        sortAll()
        if candidates.isEmpty { return }
        let (waiting, found) = (candidates, places.count)
        (candidates, candidateBytes) = ([], 0)
        // The number of matches before the candidate, of those among the candidates, and of candidates that match for
        // sure.
        var (before, new, certain) = (0, 0, 0)
        for candidate in waiting {
            while before < found, query.isAscending(places[before], candidate.place) { before += 1 }
            if before + new + certain >= limit {
                hasDropped = true
                break
            }
            if candidate.isMatch {
                candidates.append(candidate)
                candidateBytes += candidate.entry.data.count
                certain += 1
            } else if let place = try match(candidate.entry) {
                places.append(place)
                new += 1
            }
        }
        if new > 0 { areSorted = false }
        sort()
        guard places.count + candidates.count >= limit else { return }
        let all = (places + candidates.map { $0.place }).sorted { query.isAscending($0, $1) }
        let last = all[limit - 1]
        while let place = places.last, query.isAscending(last, place) {
            removeLast(1)
            hasDropped = true
        }
        self.last = last
    }

    /// Sorts the matches, and drops those that are not needed.
    private func sort() {
        if !areSorted {
            let (oldMatches, oldPlaces, terms) = (matches, places, query.order)
            let order = oldPlaces.indices.sorted { terms.isAscending(oldPlaces[$0], oldPlaces[$1]) }.prefix(limit)
            matches = order.map { oldMatches[$0] }
            places = order.map { oldPlaces[$0] }
            areSorted = true
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

/// An item that may match, with its place in the result.
struct QueryCandidate: Sendable {
    var place: QueryPlace
    var entry: StorageItem
    /// Whether it matches for sure if it can be decoded.
    var isMatch: Bool
}
