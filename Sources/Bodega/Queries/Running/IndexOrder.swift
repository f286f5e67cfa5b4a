/// The order of an index that is that of the first terms of a query.
package struct IndexOrder: Sendable {
    /// The index.
    package let index: StorageIndex
    /// The number of its first members of which all items in this order have one key each.
    let equalCount: Int

    /// The number of the terms: each member after the equal ones has the order of one.
    var termCount: Int { index.members.count - equalCount }

    /// The sort key that the index has for an item, and for a term; `nil` if it has none.
    func key(of item: StorageItem, term: Int) -> StorageSortKey? {
        if index.others.isEmpty { return term == 0 ? item.sortKey : nil }
        let member = equalCount + term
        return member < item.sortKeys.count ? item.sortKeys[member] : nil
    }
}

extension [QueryTerm] {
    /// The number of an index's first members after which each member has the order of a term, beginning with the first
    /// term; `nil` if the index has no such order.
    func equalCount(of index: StorageIndex) -> Int? {
        let members = index.members
        return members.indices.dropFirst(index.constants.count).first { first in
            members.count - first <= count
                && zip(self, members[first...]).allSatisfy { $0.isOrdered(by: $1) }
        }
    }
}
