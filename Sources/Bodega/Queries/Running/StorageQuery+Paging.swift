// How the first matches are found, at a cost that follows their number.
//
// Two ways lead to them, and which one is shorter depends on the items:
//
// - In the order of the result, until there are enough. That is short if many items match.
// - By an index that narrows. All of its candidates are read, and their places compared. That is short if it has few.
//
// A page takes the second way if the index has few candidates, which the engine counts without reading them. Otherwise
// it tries the first way with as many items, then looks again with four times as many, and so on. So it reads at most a
// few times as many items as the shorter way needs.

extension StorageQuery {

    /// Reads the first matches after a place, in order.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - limit: The maximum number of matches.
    ///   - place: The place, `nil` for the first matches of all.
    ///   - item: The key of the item at the place, with which the page begins there although the item was removed and
    ///     another one has its position; `nil` if positions stay the same.
    ///   - looksBeyond: Whether to find out if there are more matches.
    package func page(
        from engine: StorageReader, limit: Int, after place: QueryPlace?, item: CacheKey? = nil,
        looksBeyond: Bool = true
    ) async throws -> QueryMatches<Match> {
        try Task.checkCancellation()
        let needed = limit == .max ? .max : limit + (looksBeyond ? 1 : 0)
        let indexes = try await indexes(of: engine)
        let search = try await usableSearch(on: engine)
        let sorting = sortingUse(of: indexes)
        let start = try await start(after: place, item, in: engine, sorting.map { reading(by: $0).order })
        let reader = PageReader(query: self, engine: engine, start: start, needed: needed)
        if needed == .max {
            let plan = try await plan(on: engine, with: indexes, limit: limit, after: start?.inIndex)
            return try await reader.page(limit, plan)
        }
        var others = indexes.filter { $0 != sorting?.index }
        let byRelevance = search.flatMap { $0.relevance == nil ? nil : found(by: $0, after: start?.exact) }
        if byRelevance != nil,
            let plan = try await narrowed(insteadOfRanking: indexes, on: engine, after: start?.exact)
        {
            return try await reader.page(limit, plan)
        }
        let inOrder =
            if let byRelevance { byRelevance } else {
                try await planInOrder(engine, indexes, sorting, search, start, &others)
            }
        let narrowing = byRelevance == nil ? search : nil
        guard let inOrder else {
            let best = try await smallest(of: others, or: narrowing, in: engine, upTo: fewCandidates)
            guard let best else { return try await reader.page(limit, reading(after: start?.exact)) }
            return try await reader.page(
                limit, narrowed(by: best, and: indexes, on: engine, after: start?.exact))
        }
        var bound = min(fewCandidates, needed > .max / 4 ? .max : max(needed * 4, 64))
        while true {
            let best = try await smallest(of: others, or: narrowing, in: engine, upTo: bound)
            if let best, best.count <= bound {
                return try await reader.page(
                    limit, narrowed(by: best, and: indexes, on: engine, after: start?.exact))
            }
            if let page = try await reader.page(limit, inOrder, budget: best == nil ? .max : bound) { return page }
            bound = bound > .max / 4 ? .max : max(bound * 4, 64)
        }
    }

    /// The plan that reads in the order of the result; `nil` if there is none.
    ///
    /// - Parameter others: The indexes that narrow besides. The one of the plan is removed.
    private func planInOrder(
        _ engine: StorageReader, _ indexes: [StorageIndex], _ sorting: IndexUse?, _ search: StorageSearch?,
        _ start: Start?,
        _ others: inout [StorageIndex]
    ) async throws -> QueryPlan? {
        if let sorting { return ordered(by: sorting, after: start?.inIndex) }
        if !order.isEmpty { return nil }
        if let search { return found(by: search, after: start?.exact) }
        // Items with one key come in insertion order.
        let equal = indexes.compactMap { IndexUse(of: $0, condition) }.filter { use in
            use.isOfLastMember && (use.possible.isOneKey || use.possible.intersection(.values).isOneKey)
        }
        let use =
            equal.count < 2
            ? equal.first : try await smallest(of: equal.map(\.index), in: engine, upTo: fewCandidates)?.use
        guard let use else { return reading(after: start?.exact) }
        others.removeAll { $0 == use.index }
        return narrowed(by: use, after: start?.exact)
    }

    /// Returns whether there is a match, without looking for a certain one.
    package func exists(in engine: StorageReader) async throws -> Bool {
        try Task.checkCancellation()
        var query = self
        query.order = []
        query.search?.relevance = nil
        let narrowing = try await indexes(of: engine).compactMap { IndexUse(of: $0, condition) }.filter(\.narrows)
        // Counting takes longer than reading the first candidate, which often matches.
        if let search = try await query.usableSearch(on: engine) {
            let plan = query.found(by: search, after: nil)
            return try await !PageReader(query: query, engine: engine, start: nil, needed: 1).page(1, plan).matches
                .isEmpty
        }
        let best =
            narrowing.count < 2
            ? narrowing.first : try await smallest(of: narrowing.map(\.index), in: engine, upTo: 64)?.use
        var plan = query.reading(after: nil)
        if let best {
            plan = query.narrowed(by: best, after: nil)
            // Any match will do. The items about which the index knows nothing come last.
            plan.scans.reverse()
            plan.firstInOrder = 0
        }
        return try await !PageReader(query: query, engine: engine, start: nil, needed: 1).page(1, plan).matches.isEmpty
    }

    // MARK: Places

    /// The place after which a page begins.
    struct Start: Sendable {
        /// With the sort key that the index has, whose last bit can differ from that of the item.
        var inIndex: QueryPlace
        var exact: QueryPlace
    }

    private func start(
        after place: QueryPlace?, _ item: CacheKey?, in engine: StorageReader, _ index: IndexOrder?
    ) async throws -> Start? {
        guard var place else { return nil }
        guard let item else { return Start(inIndex: place, exact: place) }
        let placed = try await engine.fetchPlaced(keys: [item], index: index?.index).first
        if let placed, MirrorPosition.range(of: placed.position) != MirrorPosition.range(of: place.position) {
            // Another of the engines of mirrors answers now, which has the item elsewhere.
            place.position = placed.position
        }
        guard let entry = placed, entry.position == place.position else {
            // The item was removed. In SQLite, another program can have inserted one with its position, which comes
            // after it.
            if place.position > .min { place.position -= 1 }
            return Start(inIndex: place, exact: place)
        }
        guard index != nil, case .keys(let keys, _)? = try glance?(entry) else {
            return Start(inIndex: place, exact: place)
        }
        // The item was read in one of the two ways, unless it has changed.
        let exact = QueryPlace(keys, position: place.position)
        let inIndex = self.place(of: entry, keys: keys, index: index)
        return [exact, inIndex].contains { $0.keys == place.keys }
            ? Start(inIndex: inIndex, exact: exact) : Start(inIndex: place, exact: place)
    }
}

/// Reads a page in one of several ways.
private struct PageReader<Match>: Sendable {
    let query: StorageQuery<Match>
    let engine: StorageReader
    let start: StorageQuery<Match>.Start?
    /// The number of matches that are needed.
    let needed: Int

    /// Reads a page.
    func page(_ limit: Int, _ plan: QueryPlan) async throws -> QueryMatches<Match> {
        try await page(limit, plan, budget: .max) ?? QueryMatches(plan: plan)
    }

    /// Reads a page.
    ///
    /// - Parameter budget: The maximum number of items that are read in the order of the result.
    /// - Returns: `nil` if that were not enough.
    func page(_ limit: Int, _ plan: QueryPlan, budget: Int) async throws -> QueryMatches<Match>? {
        for isCareful in [false, true] {
            var collector = try await read(plan, budget: budget, isCareful)
            if collector.isExhausted { return nil }
            if let page = try await collector.first(limit) { return page }
        }
        return nil
    }

    private func read(_ plan: QueryPlan, budget: Int, _ isCareful: Bool) async throws -> MatchCollector<Match> {
        let place = plan.order == nil ? start?.exact : start?.inIndex
        var collection = MatchCollection(
            MatchCollector(query, plan, limit: needed, after: place, budget: budget, isCareful: isCareful))
        while true {
            let beginning = collection
            let current = Locked(beginning)
            let plan = beginning.collector.plan
            try await engine.scan(plan.scans, within: plan.within, isShort: needed <= 257) {
                let new = MatchCollection(beginning.collector)
                current.withLock { $0 = new }
                return new.receive
            }
            collection = current.withLock { $0 }
            guard let next = collection.collector.planOfGroup else { return collection.collector }
            collection.collector.continue(with: next)
        }
    }
}
