import BodegaTesting
import Foundation
import TestSupport

@testable import Bodega

/// An object with properties of all types that an index can be over.
struct TypedRecord: Codable, Sendable, Queryable {
    enum Color: String, Codable, Sendable, CaseIterable { case red, green, blue = "\u{E9}t\u{E9}" }
    enum Level: Int, Codable, Sendable, CaseIterable { case low, high = 5 }
    struct Owner: Codable, Equatable, Sendable {
        var name: String
        var rank: Int?
    }

    var flag: Bool
    var maybeFlag: Bool?
    var int: Int
    var maybeInt: Int?
    var small: UInt8
    var big: UInt64
    var double: Double
    var maybeDouble: Double?
    var float: Float
    var date: Date
    var maybeDate: Date?
    var text: String
    var maybeText: String?
    var id: UUID
    var maybeID: UUID?
    var color: Color
    var maybeColor: Color?
    var level: Level
    var owner: Owner
    var maybeOwner: Owner?

    static let indexes: [Index<TypedRecord>] = [
        Index("flag", \.flag), Index("maybeFlag", \.maybeFlag), Index("int", \.int), Index("maybeInt", \.maybeInt),
        Index("small", \.small), Index("big", \.big), Index("double", \.double), Index("maybeDouble", \.maybeDouble),
        Index("float", \.float), Index("date", \.date), Index("maybeDate", \.maybeDate), Index("text", \.text),
        Index("maybeText", \.maybeText), Index("id", \.id), Index("maybeID", \.maybeID), Index("color", \.color),
        Index("maybeColor", \.maybeColor), Index("level", \.level), Index("owner.name", \.owner.name),
        Index("owner.rank", \.owner.rank),
    ]
}

/// Random records, with few values of each property, as JSON in various spellings.
struct TypedSamples {
    var random: SeededGenerator

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    static let ints = [
        0, 1, -1, 2, 7, .max, .min, 9_007_199_254_740_993, 9_007_199_254_740_992, -9_007_199_254_740_993,
    ]
    static let bigs: [UInt64] = [0, 1, 5, .max, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, 9_007_199_254_740_993]
    static let doubles = [
        0, -0.0, 1, 0.1, 0.1 + 0.2, 0.3, -1.5, 1e22, 1e300, 0x1p-1074, 0x7e8p-1074, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude,
        .leastNormalMagnitude, 9_007_199_254_740_992, 0x1p63, -0x1p63, 1e19, 100.25, (0.1).nextUp,
    ]
    static let floats: [Float] = [
        0, -0.0, 1, 0.1, 0.3, 0.1 + 0.2, 16_777_216, 1e20, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -2.5,
    ]
    static let dates = [0, 1, 0.1, -1e9, 7e8, 7e8 + 0.123456, 6.9e8 + 1e-6, 1e12, 7e8.nextUp].map {
        Date(timeIntervalSinceReferenceDate: $0)
    }
    static let texts = [
        "", "a", "b", "ab", "abc", "Abc", "\u{E9}", "e\u{301}", "e", "\u{E9}a", "e\u{301}a", "\u{212A}", "K", "k",
        "\u{C5}", "\u{212B}", "A\u{30A}",
        "\u{1F600}", "z", "a\u{323}\u{301}", "a\u{301}\u{323}", "\u{1EA1}\u{301}", "a\nb", "a\0b", "\u{AC00}",
        "\u{1100}\u{1161}", "\u{10FFFF}", "a\u{10FFFF}",
        "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "\r\n", "\r", "a\r\n", "\u{E38}\u{E48}", "\u{E48}\u{E38}",
        "\u{1F468}\u{200D}\u{1F469}", "\u{1F468}",
    ]
    static let ids = (0..<4).compactMap { UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964F\($0)") }

    mutating func record() -> String {
        var members: [(String, String?)] = [
            ("flag", pick(["true", "false"])), ("maybeFlag", optional(pick(["true", "false"]))),
            ("int", integer(pick(Self.ints))), ("maybeInt", optional(integer(pick(Self.ints)))),
            ("small", pick(["0", "1", "255", "7", "7.0", "7e0"])), ("big", "\(pick(Self.bigs))"),
            ("double", number(pick(Self.doubles))), ("maybeDouble", optional(number(pick(Self.doubles)))),
            ("float", chance(50) ? "\(pick(Self.floats))" : "\(Double(pick(Self.floats)))"),
            ("date", number(pick(Self.dates).timeIntervalSinceReferenceDate)),
            ("maybeDate", optional(number(pick(Self.dates).timeIntervalSinceReferenceDate))),
            ("text", text(pick(Self.texts))), ("maybeText", optional(text(pick(Self.texts)))),
            ("id", id()), ("maybeID", optional(id())),
            ("color", text(pick(["red", "green", "\u{E9}t\u{E9}"]))),
            ("maybeColor", optional(text(pick(["red", "\u{E9}t\u{E9}"])))),
            ("level", pick(["0", "5", "5.0"])),
        ]
        let owner =
            "{\"name\":\(text(pick(Self.texts)))" + (chance(50) ? ",\"rank\":\(pick(["1", "2", "null"]))" : "") + "}"
        members += [("owner", owner), ("maybeOwner", optional(owner))]
        members.shuffle(using: &random)
        return "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",")
            + "}"
    }

    private mutating func optional(_ value: String) -> String? { chance(60) ? value : chance(50) ? "null" : nil }

    private mutating func integer(_ value: Int) -> String {
        chance(85) || value.magnitude > 1 << 53 ? "\(value)" : chance(50) ? "\(value).0" : "\(value)e0"
    }

    private mutating func number(_ value: Double) -> String {
        if let integer = Int64(exactly: value), chance(50) { return "\(integer)" }
        return chance(20) ? String(format: "%.25e", value) : "\(value)"
    }

    private mutating func text(_ text: String) -> String {
        guard chance(10) else { return ModelSamples.plainSpelling(of: text) }
        return "\"" + text.utf16.map { String(format: "\\u%04x", Int($0)) }.joined() + "\""
    }

    private mutating func id() -> String {
        let text = pick(Self.ids).uuidString
        let mixed = String(
            text.enumerated().map { $0.offset % 2 == 0 ? Character($0.element.lowercased()) : $0.element })
        return "\"\(pick([text, text, text.lowercased(), mixed]))\""
    }
}
