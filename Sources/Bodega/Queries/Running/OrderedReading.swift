/// How a query is read in the order of an index.
///
/// An index over one term's member has the order of that term. An index over those of several terms has the order of
/// all of them, but none that an engine reads in one piece: each term has a direction, and items without a value come
/// last in both. So the items with equal keys of the first terms, a *group*, are read in the order of the next one:
///
/// 1. The items are read in the order of the first term. Those of a small group are sorted in memory.
/// 2. When a group has more items than it should, see ``MatchCollector``, reading goes on in that group, in the order
///    of the second term, see ``plan(in:)``. If there are three terms, this can lead to a group of the second term.
/// 3. After the group, the items come in the order of the first term again, after the group's key.
///
/// A page after a place begins in the groups of the place.
struct OrderedReading: Sendable {
    private let use: IndexUse
    private let condition: QueryCondition
    private let terms: [QueryTerm]

    /// - Parameter use: How the index is used, with the member of the first term after the equal ones.
    init(_ use: IndexUse, _ condition: QueryCondition, by terms: [QueryTerm]) {
        (self.use, self.condition, self.terms) = (use, condition, terms)
    }

    var order: IndexOrder { IndexOrder(index: use.index, equalCount: use.equal.count) }

    /// Whether groups can be read in the order of one more term.
    var hasGroups: Bool { order.termCount > 1 }

    /// The plan that begins with the first item, or after a place.
    func plan(after place: QueryPlace?) -> QueryPlan {
        plan(in: place.map(groups) ?? [], after: place, others: 0)
    }

    /// The plan that goes on with a group, and then with the items after it.
    ///
    /// - Parameter keys: The keys of the group's terms.
    func plan(in keys: [StorageSortKey]) -> QueryPlan { plan(in: keys, after: nil, others: keys.count) }

    /// - Parameters:
    ///   - keys: The keys of the groups in which to begin.
    ///   - place: The place after which to begin.
    ///   - first: The first term whose items without a place in its order are to be read.
    private func plan(in keys: [StorageSortKey], after place: QueryPlace?, others first: Int) -> QueryPlan {
        let uses = (0...keys.count).map { use.following(keys.prefix($0), condition) }
        var scans: [StorageScan] = []
        for term in first...keys.count {
            // What the decoder makes of other keys is unknown, and so are the places of these items.
            let others = uses[term].possible.candidates.subtracting(terms[term].ordered)
            scans += uses[term].others + uses[term].scans(of: others)
        }
        let firstInOrder = scans.count
        var termCounts: [Int] = []
        for term in (0...keys.count).reversed() {
            let ordered = self.scans(uses[term], term, start(term, keys, place))
            scans += ordered
            termCounts += ordered.map { _ in term + 1 }
        }
        let narrows = use.narrows ? ", narrowed by it" : ""
        return QueryPlan(
            scans: scans, firstInOrder: firstInOrder, termCounts: termCounts, reading: self, narrowing: use.narrowing,
            explanation: "reads items in the order of the index \(use.index)\(narrows)")
    }

    /// Where to begin among the keys of a term.
    enum Start {
        case first
        case at(StorageSortKey)
        case after(StorageSortKey)
        case afterPlace(StoragePlace)
    }

    private func start(_ term: Int, _ keys: [StorageSortKey], _ place: QueryPlace?) -> Start {
        if term < keys.count { return .after(keys[term]) }
        guard let place else { return .first }
        let key = place.keys[term]
        return term + 1 == terms.count && uses(lastMember: term)
            ? .afterPlace(StoragePlace(sortKey: key, position: place.position)) : .at(key)
    }

    private func uses(lastMember term: Int) -> Bool { term + 1 == order.termCount }

    /// The keys of the groups of a place, except those of the last member's term.
    private func groups(of place: QueryPlace) -> [StorageSortKey] {
        var keys: [StorageSortKey] = []
        while keys.count + 1 < order.termCount {
            let (term, key) = (keys.count, place.keys[keys.count])
            let use = use.following(keys[...], condition)
            guard use.possible.candidates.intersection(terms[term].ordered).contains(key) else { break }
            keys.append(key)
        }
        return keys
    }

    /// Scans in the order of a term.
    private func scans(_ use: IndexUse, _ term: Int, _ start: Start) -> [StorageScan] {
        let isDescending = terms[term].isDescending
        let ordered = use.possible.candidates.intersection(terms[term].ordered)
        let values = ordered.intersection(.values).ranges
        let ranges = (isDescending ? values.reversed() : values) + ordered.intersection(.none).ranges
        return ranges.compactMap { range in
            guard let (rest, place) = start.rest(of: range, isDescending) else { return nil }
            let (lower, upper) = (rest.lower, rest.upper)
            return use.scan(from: lower, to: upper, isDescending: isDescending && upper != .end, after: place)
        }
    }
}

extension OrderedReading.Start {
    private var key: StorageSortKey? {
        switch self {
        case .first: nil
        case .at(let key), .after(let key): key
        case .afterPlace(let place): place.sortKey
        }
    }

    /// The rest of a range, and the place in it after which to begin; `nil` if there is no rest. The range of items
    /// without a value comes last in both directions.
    fileprivate func rest(
        of range: StorageSortKeyRanges.Range, _ isDescending: Bool
    ) -> (StorageSortKeyRanges.Range, StoragePlace?)? {
        guard let key else { return (range, nil) }
        if case .afterPlace(let place) = self, StorageSortKeyRanges(range.lower, range.upper).contains(key) {
            return (range, place)
        }
        if range.upper == .end {
            if case .after = self, key == .none { return nil }
            return (range, nil)
        }
        if key == .none { return nil }
        var (rest, isIncluded) = (range, false)
        if case .at = self { isIncluded = true }
        if isDescending {
            rest.upper = min(rest.upper, isIncluded ? .after(key) : .before(key))
        } else {
            rest.lower = max(rest.lower, isIncluded ? .before(key) : .after(key))
        }
        return rest.lower < rest.upper ? (rest, nil) : nil
    }
}
