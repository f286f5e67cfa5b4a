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
/// 6. In the order of several terms, a scan is in the order of the first ones, and items with equal keys of these, a
///    group, come in any order. When a group has too many items, ``planOfGroup`` reads it in the order of another term.
struct MatchCollector<Match> {
    private let query: StorageQuery<Match>
    private(set) var plan: QueryPlan
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
    /// The number of matches before the next item of a scan in the order of the result, and whether candidates that
    /// match for sure are among them.
    private var found = (count: 0, hasCandidates: false)
    /// The group of the last item in order.
    private var group = Group()
    /// The number of items in a group from which on it is read in the order of one more term. It doubles, because each
    /// such group needs a read of its own.
    private var groupLimit: Int
    /// The items that were kept and can come again.
    private var kept: [CacheKey: Kept] = [:]
    /// The number of items in the order of the result that may still come.
    private var budget: Int
    /// Whether more items came in the order of the result than the budget allows, so that the matches are incomplete.
    private(set) var isExhausted = false
    /// How reading goes on in a group that has too many items; `nil` if there is none.
    private(set) var planOfGroup: QueryPlan?

    /// Items with equal keys of the first terms.
    private struct Group {
        var keys: [StorageSortKey] = []
        var count = 0
    }

    /// An item that was kept: a match or a candidate.
    private struct Kept {
        /// Whether it matches for sure.
        let isMatch: Bool
        /// Its place at that time.
        let sortKeys: [StorageSortKey]
        let position: Int

        init(_ entry: StorageItem, _ isMatch: Bool) {
            (self.isMatch, sortKeys, position) = (isMatch, entry.sortKeys, entry.position)
        }

        func isInPlace(of entry: StorageItem) -> Bool { position == entry.position && sortKeys == entry.sortKeys }
    }

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
        groupLimit = limit > .max / 4 ? .max : max(limit / 8, query.smallGroup)
    }

    /// Goes on with another plan, after ``planOfGroup``.
    mutating func `continue`(with plan: QueryPlan) {
        self.plan = plan
        planOfGroup = nil
        if groupLimit < .max / 4 { groupLimit *= 2 }
        // Those before the group are before all items that come.
        let terms = query.order.prefix(group.keys.count)
        let isBefore = { [group] (place: QueryPlace) in
            let keys = Array(place.keys.prefix(group.keys.count))
            return Array(terms).isAscending(QueryPlace(keys), QueryPlace(group.keys))
        }
        let certain = candidates.count { $0.isMatch && isBefore($0.place) }
        found = (certain + places.count(where: isBefore), certain > 0)
        group = Group()
    }

    /// Receives an item.
    ///
    /// - Returns: Whether the scan can have more matches that are needed.
    mutating func receive(_ scan: Int, _ entry: StorageItem) throws -> Bool {
        if planOfGroup != nil || isExhausted { return false }
        let termCount = plan.termCount(ofScan: scan)
        // Whether all later items come after this one.
        let isInOrder = termCount == query.order.count
        if let termCount {
            if try isComplete(before: entry, termCount) { return false }
            if budget == 0 {
                isExhausted = true
                return false
            }
            budget -= 1
        }
        if let old = kept[entry.key] {
            // One that another program has moved since stays where it was, which may be after this place. If it
            // counted here, the page would end before enough items, and the next one begin after those between.
            if isInOrder, old.isMatch, old.isInPlace(of: entry) { found = (found.count + 1, true) }
            return true
        }
        if !isInOrder, limit < .max, let glance = query.glance {
            switch try glance(entry) {
            case .excluded: return true
            case .keys(let keys, let isMatch):
                let place = query.place(of: entry, keys: keys, index: plan.order)
                if !isBeforeLast(place) { return true }
                // Many candidates would be examined in one piece.
                if isMatch || limit <= 256 {
                    let isMatch = isMatch && !isCareful
                    keep(entry, isMatch)
                    try wait(QueryCandidate(place: place, entry: entry, isMatch: isMatch))
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
        keep(entry, true)
        // An item in the order of its scan can come before candidates of earlier scans that were examined.
        if let last = places.last, !query.isAscending(last, place) { areSorted = false }
        places.append(place)
        if isFull { try settle() }
        guard isInOrder, found.count >= limit else { return true }
        // No other item may come after this scan.
        if found.hasCandidates { hasDropped = true }
        return false
    }

    /// Remembers an item that can come again.
    private mutating func keep(_ entry: StorageItem, _ isMatch: Bool) {
        if plan.reading?.hasGroups == true, limit < .max { kept[entry.key] = Kept(entry, isMatch) }
    }

    /// Whether an item in the order of the first terms, and all after it, come after the last match that is needed, or
    /// need another plan.
    private mutating func isComplete(before entry: StorageItem, _ termCount: Int) throws -> Bool {
        if found.count >= limit {
            if found.hasCandidates { hasDropped = true }
            return true
        }
        guard query.order.count > 1, let order = plan.order else { return false }
        let keys = (0..<termCount).compactMap { order.key(of: entry, term: $0) }
        // Of a text that is not UTF-8, the engine has a place, but no key.
        if keys.count < termCount { return false }
        if keys == group.keys {
            group.count += 1
            if group.count > groupLimit, termCount < order.termCount {
                planOfGroup = plan.reading?.plan(in: keys)
                return true
            }
            return false
        }
        group = Group(keys: keys, count: 1)
        if termCount < query.order.count, candidates.count + places.count >= limit { try settle() }
        guard let last else { return false }
        let ends = [Array(last.keys.prefix(termCount)), keys].map { QueryPlace($0) }
        guard Array(query.order.prefix(termCount)).isAscending(ends[0], ends[1]) else { return false }
        // The matches up to the last one may include candidates that can't be decoded.
        hasDropped = true
        return true
    }

    private mutating func match(_ entry: StorageItem) throws -> QueryPlace? {
        try query.match(entry, index: plan.order, isMatch: plan.isMatch(entry)) { matches.append($0) }
    }

    private mutating func wait(_ candidate: QueryCandidate) throws {
        candidates.append(candidate)
        candidateBytes += candidate.entry.data.count
        if isFull { try settle() }
    }

    private var isFull: Bool {
        limit < .max / 4
            && (candidates.count + places.count > limit + max(limit, 256)
                || candidateBytes > 8 << 20 && candidates.count > limit)
    }

    private mutating func isBeforeLast(_ place: QueryPlace) -> Bool {
        if let start, !query.isAscending(start, place) { return false }
        if let last, !query.isAscending(place, last) {
            hasDropped = true
            return false
        }
        return true
    }

    private mutating func isNeeded(_ place: QueryPlace, isInOrder: Bool) -> Bool {
        if let start, !query.isAscending(start, place) { return false }
        if isInOrder { found.count += 1 }
        return isBeforeLast(place)
    }

    /// The first matches, in order. Nothing can be received after this.
    ///
    /// - Parameter count: The maximum number of matches.
    /// - Returns: `nil` if matches were dropped in favor of items that can't be decoded.
    mutating func first(_ count: Int) async throws -> QueryMatches<Match>? {
        sortAll()
        var pace = ScanPace()
        let waiting = candidates
        candidates = []
        let found = places.count
        var before = 0
        // Whether a candidate that counted as a match is none. Then matches can be missing before the last one here.
        var isShort = false
        for candidate in waiting {
            while before < found, query.isAscending(places[before], candidate.place) { before += 1 }
            if before + places.count - found >= limit { break }
            try await pace.count(candidate.entry.data)
            if let place = try match(candidate.entry) {
                places.append(place)
            } else if candidate.isMatch {
                isShort = true
            }
        }
        if places.count > found { areSorted = false }
        sort()
        if hasDropped, isShort || places.count < limit { return nil }
        let hasMore = places.count > count
        if hasMore { removeLast(places.count - count) }
        return QueryMatches(matches: matches, places: places, hasMore: hasMore, plan: plan)
    }

    private mutating func sortAll() {
        sort()
        let order = query.order
        candidates.sort { order.isAscending($0.place, $1.place) }
    }

    /// Drops what comes after enough matches and candidates that match for sure. Other candidates are examined before
    /// that.
    private mutating func settle() throws {
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
    private mutating func sort() {
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

    private mutating func removeLast(_ count: Int) {
        matches.removeLast(count)
        places.removeLast(count)
    }
}
