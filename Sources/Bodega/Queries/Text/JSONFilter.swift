import RecordCoder

/// A condition on a JSON value: the part of RFC 9535's filter expressions that ``JSONFilterParser`` supports.
package indirect enum JSONFilter: Sendable {
    case or(JSONFilter, JSONFilter)
    case and(JSONFilter, JSONFilter)
    case not(JSONFilter)
    /// The value exists.
    case exists(JSONQuery)
    case compare(Operand, Comparison, Operand)
    /// A string matches a regular expression, whole or in part.
    case match(Operand, JSONPattern)

    /// An operand of a comparison.
    package indirect enum Operand: Sendable {
        case literal(JSONValue)
        case query(JSONQuery)
        /// The number of characters, elements or members.
        case length(Operand)
    }

    /// A comparison operator.
    package enum Comparison: String, CaseIterable, Sendable {
        // The longer ones first, so that a parser finds them before their prefixes.
        case equal = "==", notEqual = "!=", atMost = "<=", atLeast = ">=", less = "<", greater = ">"
    }

    /// Whether a value meets the condition. In comparisons, a value with more than 500 levels and one with a lone
    /// surrogate count as missing.
    ///
    /// - Parameters:
    ///   - bytes: A text.
    ///   - range: A value in it that ``JSONScanner`` has accepted.
    ///   - deadline: When to give up a regular expression, which can take long for a large text: with any result.
    package func accepts(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, until deadline: ContinuousClock.Instant? = nil
    ) -> Bool {
        switch self {
        case .or(let left, let right):
            left.accepts(bytes, range, until: deadline) || right.accepts(bytes, range, until: deadline)
        case .and(let left, let right):
            left.accepts(bytes, range, until: deadline) && right.accepts(bytes, range, until: deadline)
        case .not(let filter): !filter.accepts(bytes, range, until: deadline)
        case .exists(let query): query.find(in: bytes, range) != nil
        case .compare(let left, let comparison, let right):
            comparison.holds(left.value(in: bytes, range), right.value(in: bytes, range))
        case .match(let operand, let pattern):
            if case .string(let text)? = operand.value(in: bytes, range) {
                pattern.matches(text, until: deadline)
            } else {
                false
            }
        }
    }
}

extension JSONFilter {
    /// The paths of the values that decide about an item.
    var queries: [JSONQuery] {
        switch self {
        case .or(let left, let right), .and(let left, let right): left.queries + right.queries
        case .not(let filter): filter.queries
        case .exists(let query): [query]
        case .compare(let left, _, let right): left.queries + right.queries
        case .match(let operand, _): operand.queries
        }
    }
}

extension JSONFilter.Operand {
    fileprivate var queries: [JSONQuery] {
        switch self {
        case .literal: []
        case .query(let query): [query]
        case .length(let operand): operand.queries
        }
    }
}

extension JSONFilter.Operand {
    /// The value, `nil` if there is none.
    func value(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> JSONValue? {
        switch self {
        case .literal(let value): return value
        case .query(let query): return query.find(in: bytes, range).flatMap { JSONValue(bytes, $0) }
        case .length(let operand):
            switch operand.value(in: bytes, range) {
            case .string(let text): return .number(JSONNumber(text.unicodeScalars.count))
            case .array(let elements): return .number(JSONNumber(elements.count))
            case .object(let members): return .number(JSONNumber(members.count))
            default: return nil
            }
        }
    }
}

extension JSONFilter.Comparison {
    /// Compares by RFC 9535, section 2.3.5.2.2: missing values are equal, and values of different types have no order.
    func holds(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: Self.isLess(left, right)
        case .greater: Self.isLess(right, left)
        case .atMost: left == right || Self.isLess(left, right)
        case .atLeast: left == right || Self.isLess(right, left)
        }
    }

    private static func isLess(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        guard let left, let right else { return false }
        return left < right
    }
}
