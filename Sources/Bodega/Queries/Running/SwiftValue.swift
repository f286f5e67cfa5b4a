/// A value of a property that Swift compares, with the type's own `<`.
///
/// @unchecked because the type need not be `Sendable`: a query only compares the value, as sorting its objects does.
package struct SwiftValue: @unchecked Sendable {
    /// The value.
    package let value: any Comparable

    package init(_ value: any Comparable) { self.value = value }

    /// Whether the value comes before one of the same type.
    func isLess(than other: SwiftValue) -> Bool {
        func compare<Value: Comparable>(_ left: Value) -> Bool {
            (other.value as? Value).map { left < $0 } ?? false
        }
        return compare(value)
    }
}

/// The values of the sort order's terms for an item.
package struct QueryKeys: Sendable {
    /// The sort key of each term.
    package var keys: [StorageSortKey]
    /// Decides between equal keys; `nil` for a term whose keys are equal if and only if the values are. Empty if that
    /// is so for all terms.
    package var values: [SwiftValue?] = []

    package init(_ keys: [StorageSortKey], _ values: [SwiftValue?] = []) {
        self.keys = keys
        // Usually there are none, and an empty array needs no memory.
        if values.contains(where: { $0 != nil }) { self.values = values }
    }
}
