/// How an index finds the items that can match a condition: by equal keys of its first members, and by a range of the
/// next one.
package struct IndexUse: Sendable, CustomStringConvertible {
    package let index: StorageIndex
    /// The sort keys of the first members, one for each member that the condition determines.
    package private(set) var equal: [StorageSortKey] = []
    /// What the condition says about the sort keys of the member after these. It knows of no key with which an item
    /// matches for sure if the condition is about several members.
    package private(set) var narrowing: QueryCondition.Narrowing
    /// Scans of items that may match although they have no such keys. Usually there are none.
    package private(set) var others: [StorageScan]

    /// - Parameter maximum: The maximum number of members that are compared for equality.
    /// - Returns: `nil` if the index is partial, and the condition does not include that of the index.
    package init?(of index: StorageIndex, _ condition: QueryCondition, equal maximum: Int = .max) {
        self.index = index
        others = [.irregular(index)]
        narrowing = condition.narrowing(by: index.first)
        for member in index.others.prefix(maximum) {
            guard let key = Self.onlyKey(in: narrowing.possible) else { break }
            if equal.count < index.constants.count, key != index.constants[equal.count] { return nil }
            others += doubtful + scans(of: possible.candidates.subtracting(StorageSortKeyRanges(key)))
            equal.append(key)
            narrowing = condition.narrowing(by: member)
        }
        if equal.count < index.constants.count { return nil }
        others += doubtful
    }

    /// A use of the first member for the items with some keys.
    init(of index: StorageIndex, _ keys: StorageSortKeyRanges) {
        self.index = index
        others = [.irregular(index)]
        narrowing = QueryCondition.Narrowing(possible: keys, certain: keys)
        others += doubtful
    }

    /// The use of a later member for the items with certain keys of this member and those after it.
    ///
    /// Its other scans are only those of items with these keys.
    func following(_ keys: ArraySlice<StorageSortKey>, _ condition: QueryCondition) -> IndexUse {
        if keys.isEmpty { return self }
        var use = self
        use.equal += keys
        use.narrowing = condition.narrowing(by: index.members[use.equal.count])
        use.others = use.doubtful
        return use
    }

    /// The key that all candidates have, but for a few; `nil` if there are several, or if an index can be wrong about
    /// it.
    private static func onlyKey(in possible: StorageSortKeyRanges) -> StorageSortKey? {
        let values = possible.intersection(.values)
        let keys = values.isEmpty ? possible : values
        guard keys.isOneKey, case .before(let key) = keys.ranges[0].lower else { return nil }
        if case .real = key { return nil }
        return key
    }

    /// All items that can match, and that the index knows with certainty, have one of these keys.
    var possible: StorageSortKeyRanges { narrowing.possible }

    /// Whether the index finds fewer items than all.
    var narrows: Bool { !equal.isEmpty || possible != .all }

    /// The paths of the members that narrow.
    var usedPaths: Set<String> { Set(index.members.prefix(usedCount).map(\.path)) }

    private var usedCount: Int { equal.count + (possible == .all ? 0 : 1) }

    /// Whether items with equal keys are in insertion order.
    var isOfLastMember: Bool { equal.count == index.others.count }

    /// Scans of the items with a possible key.
    var candidates: [StorageScan] { scans(of: possible.candidates) }

    /// Scans of the items with a number at a bound outside of the ranges, about which the index can be wrong.
    private var doubtful: [StorageScan] {
        possible.excluded.map { .approximate(index, equal: equal, from: .before($0), to: .after($0)) }
    }

    /// Scans of items with keys in some ranges.
    func scans(of ranges: StorageSortKeyRanges) -> [StorageScan] {
        (ranges.intersection(.values).ranges + ranges.intersection(.none).ranges).map {
            scan(from: $0.lower, to: $0.upper)
        }
    }

    /// A scan of the items with keys in a range.
    func scan(
        from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, isDescending: Bool = false,
        after place: StoragePlace? = nil
    ) -> StorageScan {
        .range(index, equal: equal, from: lower, to: upper, isDescending: isDescending, after: place)
    }

    /// The index, with its used members if these are not all.
    package var description: String {
        let used = index.members.prefix(usedCount).dropFirst(index.constants.count)
        if used.isEmpty || usedCount > index.others.count { return "\(index)" }
        return "\(index) (\(used.map(\.path).joined(separator: ", ")))"
    }
}
