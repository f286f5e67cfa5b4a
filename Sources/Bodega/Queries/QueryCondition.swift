/// What a condition on items says about their members: the form of a condition from which engines narrow.
///
/// A condition about anything else is ``opaque``. Swift decides about each item by other means, see ``StorageQuery``.
package indirect enum QueryCondition: Sendable {
    case and(QueryCondition, QueryCondition)
    case or(QueryCondition, QueryCondition)
    case not(QueryCondition)
    /// A condition on the sort key of a member: each item with one of the keys in `certain` meets it, and each item
    /// that meets it has one of the keys in `possible`.
    case member(path: MemberPath, possible: StorageSortKeyRanges, certain: StorageSortKeyRanges, needsTextIndex: Bool)
    /// All items meet the condition, or none.
    case constant(Bool)
    /// Nothing is known.
    case opaque

    /// The conjunction of two conditions; one of them if the other is constant.
    static func conjunction(_ left: QueryCondition, _ right: QueryCondition) -> QueryCondition {
        switch (left, right) {
        case (.constant(let isMet), let other), (let other, .constant(let isMet)): isMet ? other : .constant(false)
        default: .and(left, right)
        }
    }

    /// The disjunction of two conditions; one of them if the other is constant.
    static func disjunction(_ left: QueryCondition, _ right: QueryCondition) -> QueryCondition {
        switch (left, right) {
        case (.constant(let isMet), let other), (let other, .constant(let isMet)): isMet ? .constant(true) : other
        default: .or(left, right)
        }
    }

    /// The negation of a condition.
    static func negation(_ condition: QueryCondition) -> QueryCondition {
        if case .constant(let isMet) = condition { .constant(!isMet) } else { .not(condition) }
    }

    /// What the condition says about the sort keys of one member of an index.
    package struct Narrowing: Sendable {
        /// All items that meet the condition have one of these keys.
        package var possible: StorageSortKeyRanges
        /// All items with one of these keys meet the condition.
        package var certain: StorageSortKeyRanges

        static let nothing = Narrowing(possible: .all, certain: .empty)
    }

    /// Returns what the condition says about the sort keys of a member of an index.
    package func narrowing(by index: StorageIndex.Member) -> Narrowing {
        switch self {
        case .and(let left, let right):
            let (left, right) = (left.narrowing(by: index), right.narrowing(by: index))
            return Narrowing(
                possible: left.possible.intersection(right.possible), certain: left.certain.intersection(right.certain))
        case .or(let left, let right):
            // Of a long chain, each union would sort all keys again.
            var (all, rest) = ([right.narrowing(by: index)], left)
            while case .or(let left, let right) = rest {
                all.append(right.narrowing(by: index))
                rest = left
            }
            all.append(rest.narrowing(by: index))
            return Narrowing(
                possible: .union(all.map { $0.possible }), certain: .union(all.map { $0.certain }))
        case .not(let condition):
            let inner = condition.narrowing(by: index)
            return Narrowing(possible: inner.certain.complement, certain: inner.possible.complement)
        case .member(let path, let possible, let certain, let needsTextIndex):
            guard index.isOver(path.text), !needsTextIndex || index.isForText else { return .nothing }
            return Narrowing(possible: possible, certain: certain)
        case .constant(let isMet):
            return isMet
                ? Narrowing(possible: .all, certain: .all) : Narrowing(possible: .empty, certain: .empty)
        case .opaque:
            return .nothing
        }
    }
}

/// The path to a member of an item's JSON, as a text and in the form that finds it.
package struct MemberPath: Sendable {
    /// The names, separated by dots, as in a ``StorageIndex``.
    package let text: String
    let query: JSONQuery

    package init(_ text: String) {
        self.text = text
        query = StorageIndex.Member(text).query
    }
}
