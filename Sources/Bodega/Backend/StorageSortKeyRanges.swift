/// A place between sort keys: immediately before or after one, or at an end of the order.
public enum StorageSortKeyBound: Hashable, Sendable {
    /// Before the first number.
    case start
    /// Before a sort key.
    case before(StorageSortKey)
    /// After a sort key.
    case after(StorageSortKey)
    /// After the last key, ``StorageSortKey/none``.
    case end
}

extension StorageSortKeyBound: Comparable {
    public static func < (left: StorageSortKeyBound, right: StorageSortKeyBound) -> Bool {
        switch (left, right) {
        case (.start, .start), (.end, _), (_, .start): false
        case (.start, _), (_, .end): true
        case (.before(let left), .before(let right)), (.after(let left), .after(let right)): left < right
        case (.before(let left), .after(let right)): left <= right
        case (.after(let left), .before(let right)): left < right
        }
    }
}

/// A set of sort keys: ascending ranges that don't touch.
package struct StorageSortKeyRanges: Hashable, Sendable {
    /// A range; the lower bound is below the upper one.
    package struct Range: Hashable, Sendable {
        package var lower: StorageSortKeyBound
        package var upper: StorageSortKeyBound
    }

    package private(set) var ranges: [Range]

    package static let all = StorageSortKeyRanges(.start, .end)
    package static let empty = StorageSortKeyRanges(ranges: [])
    package static let numbers = StorageSortKeyRanges(.start, .before(.text("")))
    package static let texts = StorageSortKeyRanges(.before(.text("")), .before(.none))
    /// The keys of items that have a value.
    package static let values = StorageSortKeyRanges(.start, .before(.none))
    package static let none = StorageSortKeyRanges(.before(.none), .end)

    private init(ranges: [Range]) { self.ranges = ranges }

    package init(_ lower: StorageSortKeyBound, _ upper: StorageSortKeyBound) {
        ranges = lower < upper ? [Range(lower: lower, upper: upper)] : []
    }

    /// The set of one key.
    package init(_ key: StorageSortKey) {
        // Nothing comes after the key of a missing value.
        self.init(.before(key), key == .none ? .end : .after(key))
    }

    /// The set of the keys that numbers with one nearest `Double` can have, and of some others beside them.
    ///
    /// Beyond 2^53 an integer has a key of its own, but that of the nearest `Double` if it is written with a fraction
    /// or an exponent.
    init(nearest number: Double) {
        if number.magnitude < 0x1p53 {
            self.init(StorageSortKey(number))
        } else {
            self.init(.before(StorageSortKey(number.nextDown)), .after(StorageSortKey(number.nextUp)))
        }
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// Whether the set has exactly one key.
    package var isOneKey: Bool {
        guard ranges.count == 1, case .before(let lower) = ranges[0].lower else { return false }
        return ranges[0].upper == .after(lower) || lower == .none
    }

    package func contains(_ key: StorageSortKey) -> Bool {
        let place = StorageSortKeyBound.before(key)
        let next = ranges.firstIndex(endingAfter: place)
        return next < ranges.endIndex && ranges[next].lower <= place
    }

    /// The keys that are in no range.
    package var complement: StorageSortKeyRanges {
        var result: [Range] = []
        var lower = StorageSortKeyBound.start
        for range in ranges {
            if lower < range.lower { result.append(Range(lower: lower, upper: range.lower)) }
            lower = range.upper
        }
        if lower < .end { result.append(Range(lower: lower, upper: .end)) }
        return StorageSortKeyRanges(ranges: result)
    }

    package func union(_ other: StorageSortKeyRanges) -> StorageSortKeyRanges { Self.union([self, other]) }

    /// The keys that are in any of several sets.
    static func union(_ sets: [StorageSortKeyRanges]) -> StorageSortKeyRanges {
        var result: [Range] = []
        for range in sets.flatMap({ $0.ranges }).sorted(by: { $0.lower < $1.lower }) {
            if let last = result.last, range.lower <= last.upper {
                result[result.count - 1].upper = max(last.upper, range.upper)
            } else {
                result.append(range)
            }
        }
        return StorageSortKeyRanges(ranges: result)
    }

    package func intersection(_ other: StorageSortKeyRanges) -> StorageSortKeyRanges {
        var result: [Range] = []
        var (left, right) = (0, 0)
        while left < ranges.count, right < other.ranges.count {
            let (first, second) = (ranges[left], other.ranges[right])
            let (lower, upper) = (max(first.lower, second.lower), min(first.upper, second.upper))
            if lower < upper { result.append(Range(lower: lower, upper: upper)) }
            if first.upper < second.upper { left += 1 } else { right += 1 }
        }
        return StorageSortKeyRanges(ranges: result)
    }

    package func subtracting(_ other: StorageSortKeyRanges) -> StorageSortKeyRanges { intersection(other.complement) }
}

extension [StorageSortKeyRanges.Range] {
    /// The index of the first range that ends after a place, found by bisection.
    fileprivate func firstIndex(endingAfter place: StorageSortKeyBound) -> Int {
        var (start, end) = (startIndex, endIndex)
        while start < end {
            let middle = (start + end) / 2
            if place < self[middle].upper { end = middle } else { start = middle + 1 }
        }
        return start
    }
}
