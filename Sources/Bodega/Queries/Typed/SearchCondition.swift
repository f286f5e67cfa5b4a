/// The condition that the searchable texts of an object match an expression.
struct SearchCondition<Object>: Sendable {
    let expression: SearchExpression
    let fields: [Searchable<Object>]
    let pattern: SearchPattern
    /// What the relevance of an object depends on; `nil` as long as it is not read.
    var ranking: SearchRanking?

    init(_ expression: SearchExpression, _ fields: [Searchable<Object>], _ form: SearchForm) {
        (self.expression, self.fields) = (expression, fields)
        pattern = SearchPattern(expression, form)
    }

    /// How often an object has the phrases of the expression; `nil` if it has no text.
    func counts(of object: Object) -> SearchCounts? {
        let texts = fields.map { $0.text(object) }
        return texts.allSatisfy { $0 == nil } ? nil : SearchCounts(of: pattern, in: texts)
    }

    /// Returns whether an object matches.
    ///
    /// - Parameter counts: What was found in its texts, `nil` if it has none.
    func isMet(by counts: SearchCounts?) -> Bool { pattern.matches { counts?.has($0) ?? false } }

    /// The place of an object that matches in the order of relevance.
    func keys(of counts: SearchCounts?) -> QueryKeys {
        guard let ranking else { preconditionFailure("The ranking is read before a query runs.") }
        guard let counts else { return QueryKeys([StorageSortKey(0)]) }
        let score = ranking.score(counts, phrases: pattern.reasons(counts.has), weights: fields.map(\.weight))
        return QueryKeys([StorageSortKey(score)])
    }
}

extension Query {
    /// The condition on the texts of an object; there is at most one.
    var search: SearchCondition<Object>? {
        get {
            for condition in conditions { if case .search(let search) = condition { return search } }
            return nil
        }
        set {
            conditions.removeAll { if case .search = $0 { true } else { false } }
            if let newValue { conditions.append(.search(newValue)) }
        }
    }

    /// Whether the best matches of a search come first.
    package var isByRelevance: Bool { order.isEmpty && !isUnordered && search != nil }
}

extension Query where Object: Queryable {

    /// Returns a query for those objects of this query whose texts match what a user has typed.
    ///
    /// ```swift
    /// let page = try await notes.fetch(Query<Note>().searching("swift \"structured concurrency\""), limit: 20)
    /// ```
    ///
    /// - Parameter text: Words, phrases and operators, see ``SearchExpression``. Each text is valid.
    public func searching(_ text: String) -> Query { searching(SearchExpression(text)) }

    /// Returns a query for those objects of this query whose texts match an expression.
    ///
    /// The texts are those of the properties that the type declares as ``Queryable/searchable``; if it declares none,
    /// it is an error when the query runs. Words of the expression can be in different properties, a phrase is in one.
    ///
    /// ## Order
    /// Without sort descriptors, the most relevant objects come first, by the formula BM25: those in which the words
    /// occur often, compared with the length of their texts, and above all rare words. How rare a word is depends on
    /// all objects of the collection, also on those that do not meet the other conditions of the query. Equally
    /// relevant objects are in insertion order. A cursor keeps these numbers, so that the pages after it are in the
    /// same order although other objects change.
    ///
    /// - Parameter expression: The expression. If this query is a search, too, objects must match both.
    public func searching(_ expression: SearchExpression) -> Query {
        var query = self
        let both = search.map { SearchExpression.all([$0.expression, expression]) } ?? expression
        query.search = SearchCondition(both, Object.searchable, Object.searchForm)
        return query
    }
}
