/// A query of an engine's items, in the form in which it runs.
///
/// - The engine narrows by what `condition` says about members that it has an index over.
/// - `examine` decides about each candidate, unless the engine knows that it matches.
package struct StorageQuery<Match>: Sendable {

    /// Decides about an item. If it matches, passes on the match and returns the keys of the sort order's terms,
    /// otherwise returns `nil`.
    ///
    /// The match is passed on, not returned: for a generic type, Swift looks up the type of an optional or of a
    /// structure with it each time, which takes as long as decoding a small object.
    package typealias Examination = @Sendable (StorageItem, (Match) -> Void) throws -> QueryKeys?

    /// Passes on the match of an item that matches for sure.
    ///
    /// Returns whether it did; otherwise the item is left out.
    package typealias MatchDecoding = @Sendable (StorageItem, (Match) -> Void) throws -> Bool

    /// Returns what is known about an item before it is examined.
    package typealias Glancing = @Sendable (StorageItem) throws -> QueryGlance

    package var condition: QueryCondition
    /// The sort order. Items with equal keys are in insertion order.
    package var order: [QueryTerm]
    package var examine: Examination
    /// `nil` to examine all items.
    package var decode: MatchDecoding?
    /// `nil` to examine all items.
    package var glance: Glancing?
    /// The search that all matches meet, if an index for searches can know it; by relevance if that is the order.
    package var search: StorageSearch?
    /// Maximum number of candidates that an index finds, and all of which a query without a limit, or a stream, reads
    /// although they are not in the order of the result. A page begins with a smaller number, see `page`.
    package var fewCandidates = 10_000
    /// Maximum number of items with equal keys of the first terms that a short page sorts in memory although an index
    /// has their order. A longer page sorts an eighth of its size.
    package var smallGroup = 8
    /// The number of candidates of an index from which on they are looked up in others before they are read.
    package var manyCandidates = 256
    /// Whether an index may count items that were not examined.
    package var countsByIndex = true

    /// - Parameter keys: Decides about an item, see ``Examination``, in a query all of whose terms are ordered by their
    ///   keys.
    package init(
        condition: QueryCondition, order: [QueryTerm], decode: MatchDecoding? = nil,
        examine keys: @escaping @Sendable (StorageItem, (Match) -> Void) throws -> [StorageSortKey]?
    ) {
        self.init(condition: condition, order: order, decode: decode) { entry, receive in
            try keys(entry, receive).map { QueryKeys($0) }
        }
    }

    package init(
        condition: QueryCondition, order: [QueryTerm], decode: MatchDecoding? = nil, glance: Glancing? = nil,
        examining examine: @escaping Examination
    ) {
        self.condition = condition
        self.order = order
        self.examine = examine
        self.decode = decode
        self.glance = glance
    }

    /// A query with the same items, whose matches are transformed.
    package func map<New>(_ transform: @escaping @Sendable (StorageItem, Match) -> New) -> StorageQuery<New> {
        var query = StorageQuery<New>(condition: condition, order: order, decode: nil) { [examine] entry, receive in
            try examine(entry) { receive(transform(entry, $0)) }
        }
        if let decode { query.decode = { entry, receive in try decode(entry) { receive(transform(entry, $0)) } } }
        query.glance = glance
        query.search = search
        query.fewCandidates = fewCandidates
        query.smallGroup = smallGroup
        query.manyCandidates = manyCandidates
        query.countsByIndex = countsByIndex
        return query
    }

    /// Whether one place is before another.
    package func isAscending(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        order.isAscending(left, right)
    }

    /// Passes on the match of an item, if it matches.
    ///
    /// - Parameters:
    ///   - entry: The item.
    ///   - index: The index whose order is that of the result, if the entry has its sort keys.
    ///   - isMatch: Whether the item matches for sure.
    ///   - receive: Receives the match.
    /// - Returns: The place of the match, `nil` if the item does not match.
    package func match(
        _ entry: StorageItem, index: IndexOrder?, isMatch: Bool = false, _ receive: (Match) -> Void
    ) throws -> QueryPlace? {
        let key = key(of: entry, term: 0, in: index)
        if isMatch, let decode, entry.sortKey != nil, order.isEmpty || order.count == 1 && key != nil {
            let keys = QueryKeys(key.map { [$0] } ?? [])
            return try decode(entry, receive) ? QueryPlace(keys, position: entry.position) : nil
        }
        guard let keys = try examine(entry, receive) else { return nil }
        return place(of: entry, keys: keys, index: index)
    }

    /// The place of an item, with the sort keys that the index has.
    func place(of entry: StorageItem, keys: QueryKeys, index: IndexOrder?) -> QueryPlace {
        var keys = keys
        for term in 0..<(index?.termCount ?? 0) {
            if let key = key(of: entry, term: term, in: index) { keys.keys[term] = key }
        }
        return QueryPlace(keys, position: entry.position)
    }

    /// The key of a term that an index has for an item; `nil` if it has none, or if the item has another one.
    private func key(of entry: StorageItem, term: Int, in index: IndexOrder?) -> StorageSortKey? {
        guard let key = index?.key(of: entry, term: term) else { return nil }
        let ordered = order[term].ordered
        return ordered == .all || ordered.contains(key) ? key : nil
    }
}

/// What is known about an item without decoding it.
package enum QueryGlance: Sendable {
    /// It does not match.
    case excluded
    /// It has these keys of the sort order's terms, and matches if it can be decoded, or may match.
    case keys(QueryKeys, isMatch: Bool)
    case nothing
}

/// A part of the sort order of a query.
package struct QueryTerm: Sendable {
    /// The path to the member; `nil` if only `examine` knows the value.
    package var path: String?
    package var isDescending: Bool
    /// The keys with which an item is in its place in the order of an index. Items with other keys are read beforehand,
    /// and `examine` knows their places.
    package var ordered: StorageSortKeyRanges
    /// Whether only an index for text has the order.
    package var needsTextIndex: Bool

    package init(
        path: String?, isDescending: Bool, ordered: StorageSortKeyRanges = .all, needsTextIndex: Bool = false
    ) {
        self.path = path
        self.isDescending = isDescending
        self.ordered = ordered
        self.needsTextIndex = needsTextIndex
    }

    /// Whether a member of an index has the order of the term.
    package func isOrdered(by member: StorageIndex.Member) -> Bool {
        path.map(member.isOver) == true && (!needsTextIndex || member.isForText)
    }
}

extension [QueryTerm] {
    /// Whether one place is before another. It is not generic, because it is called for each item.
    func isAscending(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        for index in indices {
            let (first, second) = (left.keys[index], right.keys[index])
            if first == second {
                guard let first = left.value(at: index), let second = right.value(at: index) else { continue }
                if first.isLess(than: second) { return !self[index].isDescending }
                if second.isLess(than: first) { return self[index].isDescending }
                continue
            }
            // Items without a value come last in both directions.
            if first == .none || second == .none { return second == .none }
            return (first < second) != self[index].isDescending
        }
        return left.position < right.position
    }
}

/// The place of an item in the result of a query.
package struct QueryPlace: Sendable {
    /// The keys of the sort order's terms.
    package var keys: [StorageSortKey]
    /// What decides between equal keys, see ``QueryKeys/values``.
    package var values: [SwiftValue?]
    /// The place in insertion order.
    package var position: Int

    package init(_ keys: QueryKeys, position: Int) {
        (self.keys, values) = (keys.keys, keys.values)
        self.position = position
    }

    /// A place of some of the terms.
    init(_ keys: [StorageSortKey]) { self.init(QueryKeys(keys), position: 0) }

    fileprivate func value(at term: Int) -> SwiftValue? { values.isEmpty ? nil : values[term] }
}

/// Some matches of a query.
///
/// @unchecked because the type of the matches need not be `Sendable`: the thread that reads the engine creates them,
/// and does not keep them.
package struct QueryMatches<Match>: @unchecked Sendable {
    package var matches: [Match] = []
    /// The places of the matches.
    package var places: [QueryPlace] = []
    /// Whether there are more matches.
    package var hasMore = false
    package var plan: QueryPlan
}
