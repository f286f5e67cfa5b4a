/// A search by an index for searches, see ``StorageIndex/search(_:form:)``.
///
/// The engine decides by the stored texts: those of the members at the index's paths, a list of texts as one text with
/// a line feed between two of them. An item that is not JSON has none. What it finds, and in which order, is what
/// ``SearchExpression`` and ``SearchRanking`` say of these texts, also for items that its index does not know yet.
public struct StorageSearch: Sendable, Hashable {

    /// What the order of relevance depends on.
    public struct Relevance: Sendable, Hashable {
        /// The weight of each member's text.
        public var weights: [Double]
        /// The numbers of all items, see ``ScanRequest/ranking``.
        public var ranking: SearchRanking

        /// Creates a description of the order.
        public init(weights: [Double], ranking: SearchRanking) {
            (self.weights, self.ranking) = (weights, ranking)
        }
    }

    /// The index.
    public var index: StorageIndex

    /// What is looked for.
    public var expression: SearchExpression

    /// The order of relevance, in which an item's sort key is its score, and items with equal scores are in insertion
    /// order; `nil` for insertion order, without sort keys.
    public var relevance: Relevance?

    /// The place after which the items begin.
    public var place: StoragePlace?

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - expression: What is looked for.
    ///   - relevance: The order of relevance; `nil` for insertion order.
    ///   - place: The place after which the items begin.
    public init(
        _ index: StorageIndex, _ expression: SearchExpression, relevance: Relevance? = nil,
        after place: StoragePlace? = nil
    ) {
        (self.index, self.expression, self.relevance, self.place) = (index, expression, relevance, place)
    }

    /// Whether an index can find what the expression asks for. It can't for one that only says what texts do not have,
    /// and in the form ``SearchForm/substrings`` for parts of fewer than three characters.
    public var isServedByIndex: Bool { pattern.fts5 != nil }

    /// The expression for texts in the form of the index.
    package var pattern: SearchPattern { SearchPattern(expression, index.searchForm ?? .words) }

    /// The same search after another place.
    package func continued(after place: StoragePlace?) -> StorageSearch {
        var search = self
        search.place = place
        return search
    }
}

extension StorageError {
    /// The error of an engine without indexes for searches.
    package static var hasNoSearchIndex: StorageError {
        StorageError(.invalidArgument, "The engine has no indexes for searches: a search reads all items.")
    }
}
