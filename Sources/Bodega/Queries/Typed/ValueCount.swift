/// A value of a property, and the number of objects that have it.
///
/// The value identifies the count, so that SwiftUI's `ForEach` takes a list of them as it is.
public struct ValueCount<Value: Hashable & Sendable>: Hashable, Identifiable, Sendable {
    /// The value.
    public let value: Value
    /// The number of objects, at least 1.
    public let count: Int

    /// The value.
    public var id: Value { value }

    /// Creates a count.
    public init(_ value: Value, count: Int) { (self.value, self.count) = (value, count) }
}

extension ValueCount {
    /// The values with their counts, in the order of ``ObjectStorage/values(of:matching:)``.
    package static func sorted(_ counts: [Value: Int]) -> [ValueCount] {
        var values = counts.map { ValueCount($0, count: $1) }
        // Each NaN is a key of its own in a dictionary.
        let start = values.partition { $0.value != $0.value && isNaN($0.value) }
        if start < values.endIndex {
            let sum = values[start...].reduce(0) { $0 + $1.count }
            values[start...] = [ValueCount(values[start].value, count: sum)]
        }
        return values.sorted { isAscending($0.value, $1.value) }
    }

    private static func isNaN(_ value: Any) -> Bool {
        if let optional = value as? any OptionalType { return optional.wrappedValue.map(isNaN) ?? false }
        return (value as? any FloatingPoint)?.isNaN ?? false
    }

    private static func isAscending(_ left: Any, _ right: Any) -> Bool {
        if let left = left as? any OptionalType, let right = right as? any OptionalType {
            guard let left = left.wrappedValue, let right = right.wrappedValue else { return left.wrappedValue != nil }
            return isAscending(left, right)
        }
        if let left = left as? any Comparable { return isLess(left, right) }
        if let left = left as? any RawRepresentable, let right = right as? any RawRepresentable {
            return isAscending(left.rawValue, right.rawValue)
        }
        return "\(left)" < "\(right)"
    }

    private static func isLess<Left: Comparable>(_ left: Left, _ right: Any) -> Bool {
        guard let right = right as? Left else { return false }
        // NaN is neither less nor greater than any number, and not equal to itself. It comes after all of them.
        guard left == left, right == right else { return left == left }
        return left < right
    }
}
