import Foundation

/// A JSON value with its spelling, for tests that must not trust the package's own parser.
package indirect enum ModelValue: Sendable {
    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string([Unicode.Scalar], spelling: String)
    /// A string with one half of a surrogate pair, which no text of Swift can contain.
    case broken(spelling: String)
    case array([ModelValue])
    case object([Member])

    package struct Member: Sendable {
        package let name: String
        package let spelling: String
        package let value: ModelValue
    }

    /// The text without whitespace.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .number(let text): text
        case .string(_, let spelling), .broken(let spelling): spelling
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members): "{" + members.map { $0.spelling + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    /// The text with whitespace between its tokens.
    package func text(_ space: () -> String) -> String {
        switch self {
        case .array(let elements):
            return "[" + space() + elements.map { $0.text(space) }.joined(separator: space() + "," + space()) + space()
                + "]"
        case .object(let members):
            let texts = members.map { $0.spelling + space() + ":" + space() + $0.value.text(space) }
            return "{" + space() + texts.joined(separator: space() + "," + space()) + space() + "}"
        default:
            return text
        }
    }

    /// Whether a string somewhere in the value is not Unicode, so that the value equals nothing.
    package var isBroken: Bool {
        switch self {
        case .broken: true
        case .array(let elements): elements.contains(where: \.isBroken)
        case .object(let members): members.contains { $0.value.isBroken }
        default: false
        }
    }

    package enum Step: Equatable, Sendable {
        case name(String)
        case index(Int)
    }

    /// The value at the end of a path, broken or not.
    package subscript(path: [Step]) -> ModelValue? {
        guard let step = path.first else { return self }
        switch (step, self) {
        case (.name(let name), .object(let members)):
            let member = members.first { Array($0.name.unicodeScalars) == Array(name.unicodeScalars) }
            return member?.value[Array(path.dropFirst())]
        case (.index(let index), .array(let elements)):
            let index = index < 0 ? elements.count + index : index
            return elements.indices.contains(index) ? elements[index][Array(path.dropFirst())] : nil
        default:
            return nil
        }
    }

    /// The first of the members with one name, by the name's scalars.
    package static func distinct(_ members: [Member]) -> [[Unicode.Scalar]: ModelValue] {
        Dictionary(members.map { (Array($0.name.unicodeScalars), $0.value) }) { first, _ in first }
    }
}

// MARK: Comparison by RFC 9535

extension ModelValue {

    package static func areEqual(_ left: ModelValue, _ right: ModelValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.number(let left), .number(let right)): return PlainNumber(left).compare(PlainNumber(right)) == 0
        case (.string(let left, _), .string(let right, _)): return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy(areEqual)
        case (.object(let left), .object(let right)):
            let (left, right) = (distinct(left), distinct(right))
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { areEqual(value, $0) } ?? false }
        default: return false
        }
    }

    package static func isLess(_ left: ModelValue, _ right: ModelValue) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): PlainNumber(left).compare(PlainNumber(right)) < 0
        case (.string(let left, _), .string(let right, _)): left.lexicographicallyPrecedes(right)
        default: false
        }
    }
}

/// A number with all its digits.
private struct PlainNumber {
    private var sign = 1
    /// The digits without zeros at both ends.
    private var digits: [UInt8]
    /// The place of the point before the first digit, as a power of ten.
    private var magnitude: Int

    init(_ text: String) {
        let parts = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
        var mantissa = parts[0]
        if mantissa.hasPrefix("-") {
            sign = -1
            mantissa.removeFirst()
        }
        let halves = mantissa.split(separator: ".")
        let all = Array(halves.joined().utf8)
        let zeros = all.prefix { $0 == UInt8(ascii: "0") }.count
        magnitude = halves[0].utf8.count - zeros + (parts.count == 2 ? Int(parts[1]) ?? 0 : 0)
        digits = Array(all.dropFirst(zeros))
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        if digits.isEmpty { (sign, magnitude) = (0, 0) }
    }

    func compare(_ other: PlainNumber) -> Int {
        if sign != other.sign { return sign - other.sign }
        if magnitude != other.magnitude { return magnitude < other.magnitude ? -sign : sign }
        if digits == other.digits { return 0 }
        return digits.lexicographicallyPrecedes(other.digits) ? -sign : sign
    }
}

// MARK: Order

/// The place of a value in the order that queries document, computed without the package.
package enum ModelKey {
    case integer(Int64)
    case real(Double)
    case text([Unicode.Scalar])
    case none

    package init(_ value: ModelValue?) {
        switch value {
        case nil, .null, .broken: self = .none
        case .bool(let bool): self = .integer(bool ? 1 : 0)
        case .number(let text): self = Int64(text).map(ModelKey.integer) ?? .real(Double(text) ?? .nan)
        case .string(let scalars, _): self = .text(scalars)
        case .some(let container): self = .text(Array(container.text.unicodeScalars))
        }
    }

    /// Less, equal or greater in ascending order.
    package func compare(_ other: ModelKey) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.integer(let left), .real(let right)): Self.compare(left, right)
        case (.real(let left), .integer(let right)): -Self.compare(right, left)
        case (.text(let left), .text(let right)):
            left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        default: rank - other.rank
        }
    }

    private static func compare(_ left: Int64, _ right: Double) -> Int {
        if right >= 9_223_372_036_854_775_808 { return -1 }
        if right < -9_223_372_036_854_775_808 { return 1 }
        let whole = Int64(right)
        if left != whole { return left < whole ? -1 : 1 }
        let fraction = right - Double(whole)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }

    package var isNone: Bool { rank == 2 }

    private var rank: Int {
        switch self {
        case .integer, .real: 0
        case .text: 1
        case .none: 2
        }
    }
}
