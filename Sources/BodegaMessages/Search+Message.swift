package import Bodega
package import RecordCoder

extension SearchExpression: JSONObjectMember, JSONReadable {
    /// No user types more, and reading goes one level deeper for each.
    private static let maximumDepth = 200

    package func add(to object: inout JSONObjectWriter) {
        switch node {
        case .text(let text, let isPrefix):
            object.add("text", text)
            if isPrefix { object.add("prefix", true) }
        case .all(let nodes): object.add("all", nodes.map(SearchExpression.init))
        case .any(let nodes): object.add("any", nodes.map(SearchExpression.init))
        case .not(let node): object.add("not", SearchExpression(node))
        }
    }

    package init(_ part: JSONPart) throws { self.init(try Self.node(part, depth: 0)) }

    private static func node(_ part: JSONPart, depth: Int) throws -> Node {
        guard depth < maximumDepth else { throw part.error("nested less than \(maximumDepth) levels deep") }
        let members = try part.members()
        func nodes(_ list: JSONPart) throws -> [Node] { try list.elements().map { try node($0, depth: depth + 1) } }
        if let text = try members.string("text") { return .text(text, isPrefix: try members.bool("prefix")) }
        if let all = members["all"] { return .all(try nodes(all)) }
        if let any = members["any"] { return .any(try nodes(any)) }
        if let not = members["not"] { return .not(try node(not, depth: depth + 1)) }
        throw part.error("a search expression")
    }
}

extension SearchRanking: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("count", count)
        object.add("length", length)
        object.add("found", found)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        let found = try members.required("found").elements().map { try $0.int() }
        self.init(phrases: found.count)
        (count, length, self.found) = (try members.required("count").int(), try members.required("length").int(), found)
    }
}

extension StorageSearch: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("index", index)
        object.add("expression", expression)
        if let relevance {
            object.add("weights", relevance.weights.map(Weight.init))
            object.add("ranking", relevance.ranking)
        }
        if let place { object.add("after", place) }
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["index", "expression", "ranking", "weights", "after"])
        let index = try StorageIndex(members.required("index"))
        guard index.searchForm != nil else { throw part.error("a search by an index for searches") }
        let relevance = try members["ranking"].map { ranking in
            let weights: [Weight] = try members.list("weights")
            let relevance = Relevance(weights: weights.map(\.value), ranking: try SearchRanking(ranking))
            guard weights.count == index.members.count else { throw part.error("a search with a weight for each path") }
            return relevance
        }
        self.init(
            index, try SearchExpression(members.required("expression")), relevance: relevance,
            after: try members.value("after"))
    }
}

/// The weight of a text in a search.
private struct Weight: JSONMember, JSONReadable {
    let value: Double

    init(_ value: Double) { self.value = value }

    init(_ part: JSONPart) throws {
        guard let value = part.number.flatMap({ Double($0) }), value.isFinite else { throw part.error("a number") }
        self.value = value
    }

    func encode(into bytes: inout [UInt8]) { bytes += String(value).utf8 }
}
