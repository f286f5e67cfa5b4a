import RecordCoder

extension JSONFilter {

    /// What the filter says about members.
    package var condition: QueryCondition {
        switch self {
        case .or(let left, let right): .or(left.condition, right.condition)
        case .and(let left, let right): .and(left.condition, right.condition)
        case .not(let filter): .not(filter.condition)
        case .exists(let query):
            // The key of a missing member is that of `null`, which exists.
            query.path.map { .member(path: MemberPath($0), possible: .all, certain: .values, needsTextIndex: false) }
                ?? .opaque
        case .compare(.query(let query), let comparison, .literal(let value)):
            query.path.map { comparison.condition(on: $0, value) } ?? .opaque
        case .compare(.literal(let value), let comparison, .query(let query)):
            query.path.map { comparison.flipped.condition(on: $0, value) } ?? .opaque
        case .compare, .match: .opaque
        }
    }
}

extension JSONQuery {
    /// The path of an index over this value; `nil` if it leads through elements, or to the item itself.
    package var path: String? {
        var names: [String] = []
        for selector in selectors {
            guard case .name(let name) = selector else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : StorageIndex.Member.path(of: names)
    }
}

extension JSONFilter.Comparison {

    fileprivate var flipped: JSONFilter.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .greater: .less
        case .atMost: .atLeast
        case .atLeast: .atMost
        }
    }

    /// The condition that a member compares to a literal in this way.
    fileprivate func condition(on path: String, _ value: JSONValue) -> QueryCondition {
        func member(_ possible: StorageSortKeyRanges, _ certain: StorageSortKeyRanges) -> QueryCondition {
            .member(path: MemberPath(path), possible: possible, certain: certain, needsTextIndex: false)
        }
        if self == .notEqual { return .not(JSONFilter.Comparison.equal.condition(on: path, value)) }
        switch value {
        case .null:
            // Null is equal to itself and has no order.
            return self == .less || self == .greater ? member(.empty, .empty) : member(.none, .empty)
        case .bool(let bool):
            let key = StorageSortKeyRanges(.integer(bool ? 1 : 0))
            // The number 1 has the same key.
            return self == .less || self == .greater ? member(.empty, .empty) : member(key, .empty)
        case .number(let number):
            let key = StorageSortKey(number)
            // Numbers are compared with all their digits, and numbers that differ in late ones can have the same key.
            // So can booleans, for which a number is neither smaller nor larger.
            let equal: StorageSortKeyRanges =
                switch key {
                case .integer(let integer): StorageSortKeyRanges(nearest: Double(integer))
                case .real(let real): StorageSortKeyRanges(nearest: real)
                case .text, .none: StorageSortKeyRanges(key)
                }
            let others = StorageSortKeyRanges(.integer(0)).union(StorageSortKeyRanges(.integer(1))).union(equal)
            let possible = ranges(of: key, in: .numbers).union(equal)
            return member(possible, possible.subtracting(others))
        case .string(let text):
            // An array or an object can have the same key as a string that begins like it.
            let containers = StorageSortKeyRanges(.before(.text("[")), .before(.text("\\")))
                .union(StorageSortKeyRanges(.before(.text("{")), .before(.text("|"))))
            let possible = ranges(of: .text(text), in: .texts)
            return member(possible, possible.subtracting(containers))
        case .array, .object:
            return .opaque
        }
    }

    /// The keys that compare to a key in this way.
    package func ranges(of key: StorageSortKey, in all: StorageSortKeyRanges) -> StorageSortKeyRanges {
        switch self {
        case .equal: StorageSortKeyRanges(key)
        case .notEqual: all.subtracting(StorageSortKeyRanges(key))
        case .less: all.intersection(StorageSortKeyRanges(.start, .before(key)))
        case .atMost: all.intersection(StorageSortKeyRanges(.start, .after(key)))
        case .greater: all.intersection(StorageSortKeyRanges(.after(key), .end))
        case .atLeast: all.intersection(StorageSortKeyRanges(.before(key), .end))
        }
    }
}
