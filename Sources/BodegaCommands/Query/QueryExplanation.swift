import Bodega

/// How a query reads a store.
struct QueryExplanation: Sendable {
    /// How it reads.
    let plan: String
    /// The paths of the store's indexes.
    let indexes: [String]
    /// The paths over which an index would help.
    let advice: [String]
    /// The arguments for an index for the search, which would help; `nil` if there is one, or none can be.
    let searchAdvice: String?
    /// Why the store can't have indexes, `nil` if it can.
    let refusal: String?
    /// The number of items that the engine has passed on, and the number of those that were examined. Others are only
    /// counted in an index, or read again.
    let read, examined: Int
    /// The number of items about which the index knows nothing, so that each query reads them, see
    /// ``/Bodega/StorageScan/irregular(_:)``.
    let outside: Int

    /// Explains a query, and runs it.
    ///
    /// - Parameter isCounting: Whether the items are only counted.
    init(of query: ItemQuery, in store: OpenStore, isCounting: Bool) async throws {
        let existing = StoreIndexes(store: store)
        let indexes = try await Set(
            existing.all().map { index in
                index.pathsText + (index.condition.map { " where \($0)" } ?? "")
                    + (index.searchForm.map { " (\($0.rawValue))" } ?? "")
            }
        ).sorted()
        self.indexes = indexes
        refusal = try await existing.refusal()

        searchAdvice = try await Self.searchAdvice(query, in: store, refusal)
        (read, examined) = try await Self.cost(of: query, in: store, isCounting: isCounting)
        let engine = StorageReader(store.engine)
        var query = query
        // Its places are those of relevance, which depend on all items if there is no index.
        if query.sort.isEmpty, !isCounting || query.limit != nil {
            query.search = try await query.search?.ranked(on: engine)
        }
        let running = query.running(LeftOutItems())
        if isCounting, query.limit == nil, let index = try await running.countingIndex(of: engine) {
            plan = "counts items by the index \(index), and reads only those about which it can be wrong"
            advice = []
            outside = try await engine.count([.irregular(index)], upTo: .max)
            return
        }
        let plan = try await running.streamingPlan(on: engine, limit: query.limit ?? .max)
        self.plan = plan.explanation + (plan.stopsAtLimit && query.limit != nil ? ", until the limit" : "")
        let irregular = plan.scans.filter { if case .irregular = $0 { true } else { false } }
        outside = irregular.isEmpty ? 0 : try await engine.count(irregular, upTo: .max)
        let readsAll = plan.scans.contains { if case .all = $0 { true } else { false } }
        guard readsAll, refusal == nil else {
            advice = []
            return
        }
        let helpful = running.condition.memberPaths.filter { path in
            let narrowing = running.condition.narrowing(by: StorageIndex.Member(path, isForText: false))
            return narrowing.possible != .all || isCounting && !narrowing.certain.isEmpty
        }
        // One index serves several terms of one direction.
        let terms = running.order.prefix { $0.isDescending == running.order[0].isDescending }
        let order = terms.compactMap { $0.path?.replacing(",", with: "\\,") }.joined(separator: ",")
        advice = (helpful + (order.isEmpty ? [] : [order])).reduce(into: []) { paths, path in
            if !indexes.contains(path), !paths.contains(path) { paths.append(path) }
        }
    }

    private static func searchAdvice(
        _ query: ItemQuery, in store: OpenStore, _ refusal: String?
    ) async throws -> String? {
        guard refusal == nil, let search = query.search, let paths = search.indexPaths else { return nil }
        if store.address.engine == .postgres, search.isForSubstrings { return nil }
        if try await search.rankedByIndex(on: StorageReader(store.engine)) != nil { return nil }
        return argument(paths) + (search.isForSubstrings ? " --substrings" : "")
    }

    private static func cost(
        of query: ItemQuery, in store: OpenStore, isCounting: Bool
    ) async throws -> (read: Int, examined: Int) {
        let examined = Locked(0)
        var query = query
        query.didExamine = { examined.withLock { $0 += 1 } }
        let reader = ItemQuery.reader(of: store.engine)
        if isCounting {
            _ = try await query.count(on: reader, leavingOut: LeftOutItems())
        } else {
            try await query.run(on: reader, leavingOut: LeftOutItems()) { _ in }
        }
        return (reader.itemCount, examined.withLock { $0 })
    }

    /// Prints the explanation.
    func print(asJSON isJSON: Bool, address: StorageAddress, on console: Console) throws {
        if isJSON {
            return try console.print([
                "plan": plan, "indexes": indexes, "advice": advice, "read": read, "examined": examined,
                "outside": outside, "searchAdvice": searchAdvice,
            ])
        }
        var lines = [
            plan, "items read: \(read), examined: \(examined)",
            "indexes: \(indexes.isEmpty ? "none" : indexes.joined(separator: ", "))",
        ]
        if outside > 0 {
            lines.append(
                "outside of the index: \(outside), such as those that are not JSON, or have escapes like \\u00e9")
        }
        if let refusal { lines.append(refusal) }
        if !advice.isEmpty {
            let options = advice.map { "--index \(Self.argument($0))" }
            lines.append("an index would help: bodega query \(address) \(options.joined(separator: " or "))")
        }
        if let searchAdvice {
            let option = "--search-index \(searchAdvice)"
            lines.append("an index for searches would help: bodega query \(address) \(option)")
        }
        if console.isOutputTerminal { lines = lines.map { TerminalText.escaped($0) } }
        try console.output.write(lines.joined(separator: "\n") + "\n")
    }

    /// A path as an argument in a shell.
    private static func argument(_ path: String) -> String {
        let isPlain = path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789._".unicodeScalars.contains($0)
        }
        return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
    }
}

extension QueryCondition {
    /// The paths of the members that the condition is about.
    fileprivate var memberPaths: [String] {
        switch self {
        case .and(let left, let right), .or(let left, let right): left.memberPaths + right.memberPaths
        case .not(let condition): condition.memberPaths
        case .member(let path, _, _, _): [path.text]
        case .constant, .opaque: []
        }
    }
}
