/// How a query reads an engine.
package struct QueryPlan: Sendable {
    /// The scans, one after the other.
    package var scans: [StorageScan]
    /// Sets of scans that have all items which can match.
    var within: [[StorageScan]] = []
    /// The number of the first scan whose items come in the order of the result. Earlier ones are read completely.
    package var firstInOrder: Int
    /// For each scan in the order of the result, the number of the first terms in whose order its items come; the
    /// others decide between items that come in any order. If it is that of all terms, items with equal keys come in
    /// insertion order.
    private var termCounts: [Int]
    /// How the scans are read in the order of an index, `nil` if they aren't.
    var reading: OrderedReading?
    /// The sort keys of the scans with which an item matches for sure, unless the key is one of the approximate ones.
    private var certain = StorageSortKeyRanges.empty
    private var approximate = StorageSortKeyRanges.empty
    /// An explanation in one line.
    package var explanation: String

    /// Whether reading stops at the limit.
    package var stopsAtLimit: Bool { firstInOrder < scans.count }

    /// The index whose order is that of the scans, `nil` if there is none.
    package var order: IndexOrder? { reading?.order }

    init(
        scans: [StorageScan], firstInOrder: Int, termCounts: [Int] = [], reading: OrderedReading? = nil,
        narrowing: QueryCondition.Narrowing = .nothing, explanation: String
    ) {
        (self.scans, self.firstInOrder, self.termCounts, self.reading) = (scans, firstInOrder, termCounts, reading)
        (certain, approximate) = (narrowing.certain, narrowing.certain.approximateBounds)
        self.explanation = explanation
    }

    /// The number of the terms in whose order the items of a scan come; `nil` if they come in any order.
    func termCount(ofScan scan: Int) -> Int? {
        if scan < firstInOrder { return nil }
        return termCounts.isEmpty ? 0 : termCounts[scan - firstInOrder]
    }

    /// Whether an item matches for sure, because of its sort key.
    func isMatch(_ entry: StorageItem) -> Bool {
        guard let key = entry.sortKey, certain.contains(key) else { return false }
        if case .real = key { return !approximate.contains(key) }
        return true
    }
}

extension StorageQuery {

    /// Chooses how to read all matches, or the first ones if no more than those are to be read.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - limit: The number of matches that are needed.
    ///   - place: The place after which to begin.
    package func plan(on engine: StorageReader, limit: Int, after place: QueryPlace?) async throws
        -> QueryPlan
    {
        try await plan(on: engine, with: indexes(of: engine), limit: limit, after: place)
    }

    /// Chooses how to read.
    ///
    /// - Parameter indexes: The indexes of the engine.
    func plan(
        on engine: StorageReader, with indexes: [StorageIndex], limit: Int, after place: QueryPlace?
    ) async throws -> QueryPlan {
        if let search = try await usableSearch(on: engine) {
            return try await plan(by: search, on: engine, with: indexes, after: place)
        }
        let sorting = sortingUse(of: indexes)
        // The order of an index that narrows needs no estimate, and another that narrows by the same is no better.
        let sorted = limit < .max ? sorting?.usedPaths ?? [] : []
        let others = indexes.filter { index in
            if index == sorting?.index, order.count == 1 { return false }
            return IndexUse(of: index, condition).map { !$0.usedPaths.isSubset(of: sorted) } ?? false
        }
        let best = try await smallest(of: others, in: engine, upTo: fewCandidates)
        if let best, best.count <= fewCandidates {
            return try await narrowed(by: best, and: indexes, on: engine, after: place)
        }
        // All items take less time in their own order, and have to be sorted, too.
        let isSorted = limit < .max || order.count == 1 || sorting?.narrows == true
        if let sorting, isSorted { return ordered(by: sorting, after: place) }
        if let best, case .index(let use) = best.way {
            let possible = use.possible
            var isUsed = !order.isEmpty || possible.intersection(.values).isOneKey || possible.isOneKey
            if !isUsed, limit == .max {
                // Reading many items by an index takes longer than reading all.
                let few = try await engine.fetchCount() / 4
                isUsed = try await engine.count(use.candidates, upTo: few + 1) <= few
            }
            if isUsed { return try await narrowed(by: best, and: indexes, on: engine, after: place) }
        }
        return reading(after: place)
    }

    /// Reads all items, or those after a place in insertion order.
    func reading(after place: QueryPlace?) -> QueryPlan {
        QueryPlan(
            scans: [.all(after: order.isEmpty ? place?.position : nil)], firstInOrder: order.isEmpty ? 0 : 1,
            explanation: order.isEmpty ? "reads items in insertion order" : "reads all items and sorts the matches"
        )
    }

    /// Reads by an index that narrows, in any order, without finding out how many items it has.
    func planByOneIndex(on engine: StorageReader) async throws -> QueryPlan {
        let uses = try await indexes(of: engine).compactMap { IndexUse(of: $0, condition) }.filter(\.narrows)
        return uses.first.map { narrowed(by: $0, after: nil) } ?? reading(after: nil)
    }

    /// The indexes of an engine, in a certain order.
    func indexes(of engine: StorageReader) async throws -> [StorageIndex] {
        try await engine.fetchIndexes().sorted {
            ($0.description, $0.isForText ? 1 : 0) < ($1.description, $1.isForText ? 1 : 0)
        }
    }

    /// The index whose order is that of the most terms, beginning with the first one, and of several such indexes the
    /// one with the most members that the condition determines.
    func sortingUse(of indexes: [StorageIndex]) -> IndexUse? {
        if order.isEmpty { return nil }
        let uses = indexes.compactMap { index -> IndexUse? in
            guard let count = order.equalCount(of: index),
                let use = IndexUse(of: index, condition, equal: count)
            else { return nil }
            return use.equal.count == count ? use : nil
        }
        return uses.max { left, right in
            (left.index.members.count - left.equal.count, left.equal.count)
                <= (right.index.members.count - right.equal.count, right.equal.count)
        }
    }

    /// A way that leads to few items, with their number.
    struct Narrowed {
        enum Way {
            case index(IndexUse)
            case search(StorageSearch)
        }

        var way: Way
        var count: Int

        /// The use of the index, `nil` if it is a search.
        var use: IndexUse? { if case .index(let use) = way { use } else { nil } }
    }

    /// Of several indexes, the one that finds the fewest items.
    ///
    /// - Parameters:
    ///   - search: A search that finds all matches, too.
    ///   - limit: The number up to which items are counted. A larger count is only known to be larger.
    /// - Returns: `nil` if none narrows.
    func smallest(
        of indexes: [StorageIndex], or search: StorageSearch? = nil, in engine: StorageReader, upTo limit: Int
    ) async throws -> Narrowed? {
        var best: Narrowed?
        if let search {
            best = Narrowed(way: .search(search), count: try await engine.count([.search(search)], upTo: limit + 1))
        }
        for use in indexes.compactMap({ IndexUse(of: $0, condition) }) where use.narrows {
            let count = try await engine.count(use.candidates, upTo: min(limit, best?.count ?? .max) + 1)
            if count < best?.count ?? .max { best = Narrowed(way: .index(use), count: count) }
        }
        return best
    }

    /// Reads the items that an index finds, but for those that others don't find, if it takes less time to find these
    /// out.
    func narrowed(
        by best: Narrowed, and indexes: [StorageIndex], on engine: StorageReader, after place: QueryPlace?
    ) async throws -> QueryPlan {
        let first: IndexUse
        switch best.way {
        case .index(let use): first = use
        case .search(let search): return found(by: search, after: place)
        }
        var plan = narrowed(by: first, after: place)
        guard best.count >= manyCandidates, engine.intersects else { return plan }
        var paths = first.usedPaths
        for use in indexes.compactMap({ IndexUse(of: $0, condition) })
        where use.narrows && !use.usedPaths.isSubset(of: paths) {
            // To find an item in an index takes a tenth of the time for reading it, or less.
            let limit = best.count > .max / 4 ? .max - 1 : best.count * 4
            let scans = use.others + use.candidates
            guard try await engine.count(scans, upTo: limit + 1) <= limit else { continue }
            paths.formUnion(use.usedPaths)
            plan.within.append(scans)
            plan.explanation += ", leaving out what the index \(use) does not find"
        }
        return plan
    }

    /// Reads the items with certain keys, and sorts the matches.
    func narrowed(by use: IndexUse, after place: QueryPlace?) -> QueryPlan {
        let possible = use.possible
        let candidates = possible.candidates
        // Items without a value are candidates, too, if the type decodes a missing member. Usually there are none.
        let values = possible.intersection(.values)
        let equal = values.isEmpty ? possible : values
        if order.isEmpty, equal.isOneKey, use.isOfLastMember {
            // Items with one key come in insertion order.
            let scans = use.others + use.scans(of: candidates.subtracting(equal))
            let inOrder = equal.ranges.map { range in
                let key: StorageSortKey = if case .before(let key) = range.lower { key } else { .none }
                let after = place.map { StoragePlace(sortKey: key, position: $0.position) }
                return use.scan(from: range.lower, to: range.upper, after: after)
            }
            return QueryPlan(
                scans: scans + inOrder, firstInOrder: scans.count, narrowing: use.narrowing,
                explanation: "finds items by the index \(use), in insertion order")
        }
        let scans = use.others + use.candidates
        return QueryPlan(
            scans: scans, firstInOrder: scans.count, narrowing: use.narrowing,
            explanation: "finds items by the index \(use) and sorts the matches")
    }

    /// Reads items in the order of an index.
    func ordered(by use: IndexUse, after place: QueryPlace?) -> QueryPlan {
        reading(by: use).plan(after: place)
    }

    /// How items are read in the order of an index.
    func reading(by use: IndexUse) -> OrderedReading { OrderedReading(use, condition, by: order) }
}

extension StorageSortKeyRanges {

    /// The ranges with the numbers whose last bits are wrong in an index.
    package var approximated: StorageSortKeyRanges {
        .union(ranges.map { StorageSortKeyRanges($0.lower.moved(by: -1), $0.upper.moved(by: 1)) })
    }

    /// The ranges in which an index has the items, except the ``doubtful(in:)`` ones.
    package var candidates: StorageSortKeyRanges { approximated.subtracting(.union(excluded.map { Self($0) })) }

    /// The integers immediately outside of the ranges. The index can be wrong about real numbers that it takes for
    /// these; it is right about all other items with such a key, which can be many.
    package var excluded: [StorageSortKey] {
        ranges.flatMap { range -> [StorageSortKey] in
            var keys: [StorageSortKey] = []
            if case .after(.integer(let integer)) = range.lower { keys.append(.integer(integer)) }
            if case .before(.integer(let integer)) = range.upper { keys.append(.integer(integer)) }
            return keys
        }
    }

    /// The intervals around the bounds in which an index can be wrong about numbers.
    package var approximateBounds: StorageSortKeyRanges {
        .union(
            ranges.flatMap { [$0.lower, $0.upper] }.compactMap { bound in
                switch bound {
                case .before(.none), .before(.text), .after(.text), .start, .end, .after(.none): nil
                case .before, .after: StorageSortKeyRanges(bound.moved(by: -1), bound.moved(by: 1))
                }
            })
    }
}

extension StorageSortKeyBound {
    /// The bound moved by more than the error of a conversion from text to a number, which is a few units in the last
    /// place.
    fileprivate func moved(by direction: Double) -> StorageSortKeyBound {
        let number: Double
        switch self {
        case .before(.integer(let integer)), .after(.integer(let integer)): number = Double(integer)
        case .before(.real(let real)), .after(.real(let real)): number = real
        case .before, .after, .start, .end: return self
        }
        let moved = number + direction * 4 * number.ulp
        // The unit of infinity is NaN.
        let key = StorageSortKey(moved.isNaN ? number : moved)
        return direction < 0 ? .before(key) : .after(key)
    }
}
