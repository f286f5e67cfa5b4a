/// A query of an engine's items, in the form in which it runs.
///
/// - The engine narrows by what `condition` says about members that it has an index over.
/// - `examine` decides about each candidate, unless the engine knows that it matches.
package struct StorageQuery<Match>: Sendable {

    package typealias Term = QueryTerm

    /// What is known about an item.
    package enum Examination {
        case unwanted
        /// The item matches; the keys are those of the sort order's terms.
        case wanted([StorageSortKey], Match)
    }

    package var condition: QueryCondition
    /// The sort order. Items with equal keys are in insertion order.
    package var order: [Term]
    /// Decides whether an item matches.
    package var examine: @Sendable (StorageEntry) throws -> Examination
    /// Returns the match of an item that matches for sure, or `nil` if it is left out; `nil` to examine all items.
    package var decode: (@Sendable (StorageEntry) throws -> Match?)?
    /// Maximum number of candidates that an index finds, and all of which are read although they are not in the order of the
    /// result. For more, reading in that order is probably faster, because it stops at the limit.
    package var fewCandidates = 10_000

    package init(
        condition: QueryCondition, order: [Term], examine: @escaping @Sendable (StorageEntry) throws -> Examination,
        decode: (@Sendable (StorageEntry) throws -> Match?)? = nil
    ) {
        self.condition = condition
        self.order = order
        self.examine = examine
        self.decode = decode
    }

    /// A query with the same items, whose matches are transformed.
    package func map<New>(_ transform: @escaping @Sendable (StorageEntry, Match) -> New) -> StorageQuery<New> {
        var query = StorageQuery<New>(condition: condition, order: order) { entry in
            switch try self.examine(entry) {
            case .unwanted: .unwanted
            case .wanted(let keys, let match): .wanted(keys, transform(entry, match))
            }
        }
        if let decode { query.decode = { entry in try decode(entry).map { transform(entry, $0) } } }
        query.fewCandidates = fewCandidates
        return query
    }

    /// Whether one place is before another.
    package func isAscending(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        order.isAscending(left, right)
    }

    /// Returns the match of an item, `nil` if it does not match.
    ///
    /// - Parameters:
    ///   - entry: The item.
    ///   - index: The index whose order is that of the result, if the entry has its place in it.
    ///   - isMatch: Whether the item matches for sure.
    package func match(
        _ entry: StorageEntry, index: StorageIndex?, isMatch: Bool = false
    ) throws -> QueryMatch<Match>? {
        if isMatch, let decode, order.isEmpty || order.count == 1 && index != nil, let key = entry.place.sortKey {
            guard let match = try decode(entry) else { return nil }
            let place = QueryPlace(keys: order.isEmpty ? [] : [key], position: entry.place.position)
            return QueryMatch(key: entry.key, place: place, match: match)
        }
        guard case .wanted(var keys, let match) = try examine(entry) else { return nil }
        if let index, let key = entry.place.sortKey, order.first?.path.map(index.isOver) == true { keys[0] = key }
        return QueryMatch(
            key: entry.key, place: QueryPlace(keys: keys, position: entry.place.position), match: match)
    }
}

/// A part of the sort order of a query.
package struct QueryTerm: Sendable {
    /// The path to the member; `nil` if only `examine` knows the value.
    package var path: String?
    package var isDescending: Bool

    package init(path: String?, isDescending: Bool) {
        self.path = path
        self.isDescending = isDescending
    }
}

extension [QueryTerm] {
    /// Whether one place is before another. It is not generic, because it is called for each item.
    func isAscending(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        for index in indices {
            let (first, second) = (left.keys[index], right.keys[index])
            if first == second { continue }
            // Items without a value come last in both directions.
            if first == .none || second == .none { return second == .none }
            return (first < second) != self[index].isDescending
        }
        return left.position < right.position
    }
}

/// The place of an item in the result of a query.
package struct QueryPlace: Hashable, Sendable {
    /// The keys of the sort order's terms.
    package var keys: [StorageSortKey]
    /// The place in insertion order.
    package var position: Int
}

/// An item that matches a query.
package struct QueryMatch<Match> {
    package var key: CacheKey
    package var place: QueryPlace
    package var match: Match
}

extension QueryMatch: Sendable where Match: Sendable {}
