package import BodegaTesting
package import Foundation
import RecordCoder

/// Random documents, filters and sort orders of one round of a test.
package struct ModelSamples {
    package var random: SeededGenerator
    /// The values that the documents of a round have, few enough to be equal often.
    private var values: [ModelValue] = []

    package init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        beginRound()
    }

    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    package mutating func beginRound() {
        values = (0..<Int.random(in: 1...14, using: &random)).map { _ in scalar() }
        // Documents of partial indexes.
        if chance(50) { values += pick(Self.partialIndexes).condition.map(\.value) }
    }

    // MARK: Values

    /// The members that documents have. An index can be over each of them.
    package static let paths: [[ModelValue.Step]] = [
        [.name("a")], [.name("b")], [.name("n"), .name("c")], [.name("A")], [.name("\u{E9}")], [.name("e\u{301}")],
        [.name("d.e")], [.name("q'r")], [.name("")],
    ]

    package static let integers = [
        "0", "-0", "1", "-1", "2", "3", "10", "9007199254740991", "9007199254740992", "9007199254740993",
        "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775806",
    ]

    /// Numbers that are no integers of 64 bits. SQLite and Swift convert them to the same `Double`.
    package static let reals = [
        "1.0", "-0.0", "0.0", "1e0", "10E-1", "0.1", "0.3", "0.5", "1.5", "-1.5", "2.5e0", "1e2", "1E+2", "100.0",
        "1e15",
        "9007199254740993.0", "9007199254740992.0", "9223372036854775808", "9223372036854775809",
        "-9223372036854775809",
        "18446744073709551616", "1e19", "1e22", "1.0000000000000002",
    ]

    /// The member with numbers whose last bits programs convert differently. An index of some engines is exact over it.
    package static let hardPath: [ModelValue.Step] = [.name("hard")]

    /// The values of the member ``hardPath``.
    package static let hardNumbers = [
        "0.30000000000000004", "0.30000000000000000000000000001", "1e308", "-1e308", "1e-320", "5e-324",
        "2.2250738585072014e-308",
        "1.7976931348623157e308", "1.7976931348623158e308", "1e309", "-1e309", "1e-400",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827", "8.41e21", "9.5e-308", "3.141592653589793238462643383279", "1e23",
        "9007199254740993.5", "9223372036854775807.5", "4.35e-322", "1.0000000000000001",
    ]

    package static let texts = [
        "", "a", "b", "ab", "abc", "B", "Z", "z", "0", "1", "true", "null", "\u{E9}", "e\u{301}", "e", "f", "K",
        "\u{212A}", "k",
        "\u{C5}", "\u{212B}", "A\u{30A}", "a/b", "a\nb", "a\"b", "a\\b", "\u{1F600}", "\u{FFFD}", "\u{FFFF}",
        "\u{10FFFF}", "\0", "a\0b", "\u{1F}",
        "[]", "{}", "[1]", "{\"a\":1}", "\u{7F}", "a b", " ", "a\u{301}\u{323}", "a\u{323}\u{301}", "\\u0061",
        "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
        "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "6F9619ff-8b86-d011-b42d-00cf4fc964ff", "\r\n", "\u{1100}\u{1161}",
        "\u{AC00}", "\u{E38}\u{E48}", "\u{E48}\u{E38}",
        String(repeating: "long ", count: 300), String(repeating: "long ", count: 300) + "!",
    ]

    private mutating func scalar() -> ModelValue {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: .null
        case 1: .bool(true)
        case 2: .bool(false)
        case 3...6: .number(pick(Self.integers))
        case 7...9: .number(pick(Self.reals))
        case 10: .number("\(Int.random(in: -5...5, using: &random))")
        case 11: chance(50) ? broken() : container(depth: 0)
        case 12, 13: container(depth: 0)
        default: string(pick(Self.texts))
        }
    }

    private mutating func broken() -> ModelValue {
        .broken(spelling: pick([#""\ud83d""#, #""a\uDE00""#, #""\udE00\uD83D""#, #""\ud83dx""#]))
    }

    private mutating func container(depth: Int) -> ModelValue {
        let count = pick([0, 1, 1, 2, 3])
        if depth < 3, chance(3) {
            return (0..<40).reduce(scalar()) { value, level in
                level % 2 == 0 ? .array([value]) : .object([member("a", value)])
            }
        }
        if chance(50) { return .array((0..<count).map { _ in depth > 3 ? .null : scalar() }) }
        let names = ["a", "b", "c", "\u{E9}", "e\u{301}", "a"]
        return .object((0..<count).map { _ in member(pick(names), depth > 3 ? .null : scalar()) })
    }

    package mutating func string(_ text: String) -> ModelValue {
        .string(Array(text.unicodeScalars), spelling: spelling(of: text))
    }

    private mutating func member(_ name: String, _ value: ModelValue) -> ModelValue.Member {
        ModelValue.Member(name: name, spelling: spelling(of: name), value: value)
    }

    /// A string of JSON with some of the escapes that it can have.
    private mutating func spelling(of text: String) -> String {
        let escapes = chance(12)
        return "\""
            + text.unicodeScalars.map { scalar -> String in
                if escapes, chance(30) { return Self.escape(scalar, isUppercase: chance(50)) }
                if scalar == "/", chance(50) { return "\\/" }
                return Self.plain(scalar)
            }.joined() + "\""
    }

    package static func plainSpelling(of text: String) -> String {
        "\"" + text.unicodeScalars.map(plain).joined() + "\""
    }

    private static func plain(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\u{0}"..."\u{1F}": escape(scalar, isUppercase: false)
        default: String(scalar)
        }
    }

    private static func escape(_ scalar: Unicode.Scalar, isUppercase: Bool) -> String {
        scalar.utf16.map { String(format: isUppercase ? "\\u%04X" : "\\u%04x", Int($0)) }.joined()
    }

    // MARK: Documents

    /// A document with its bytes; without a value if it is not JSON.
    package struct Document {
        package let bytes: Data
        package let value: ModelValue?
        /// Whether the bytes would be JSON if they were UTF-8, which SQLite does not check.
        package var isNearlyJSON: Bool { value == nil && !bytes.withUnsafeBytes(isValidUTF8) }
    }

    package mutating func document() -> Document {
        if chance(8) { return garbage() }
        let value = chance(3) ? scalar() : object()
        let isSpacious = chance(15)
        var random = random
        let text = value.text { isSpacious ? [" ", "", "\n", "\t", " \r\n"].randomElement(using: &random) ?? "" : "" }
        self.random = random
        let space = isSpacious ? pick([" ", "\n\n", "\t", ""]) : ""
        return Document(bytes: Data((space + text + space).utf8), value: value)
    }

    private mutating func object() -> ModelValue {
        var members: [ModelValue.Member] = []
        for path in Self.paths where chance(path == [.name("a")] ? 90 : 45) {
            guard case .name(let name) = path[0] else { continue }
            let value = value()
            // Sometimes the outer member is something else.
            let isInner = path.count == 2 && !chance(10)
            members.append(
                member(
                    name,
                    isInner ? .object([member("c", value)] + (chance(10) ? [member("c", self.value())] : [])) : value))
            if chance(5) { members.append(member(name, self.value())) }
        }
        if chance(50) { members.append(member("hard", .number(pick(Self.hardNumbers)))) }
        if chance(50) { members.append(member("list", container(depth: 1))) }
        if chance(1) { members.append(Self.largeMember) }
        members.shuffle(using: &random)
        return .object(members)
    }

    /// A member with which an item is too large to be read together with others.
    private static let largeMember: ModelValue.Member = {
        let text = String(repeating: "x", count: 40_000)
        return ModelValue.Member(
            name: "large", spelling: "\"large\"",
            value: .string(Array(text.unicodeScalars), spelling: plainSpelling(of: text)))
    }()

    private mutating func value() -> ModelValue { chance(85) ? pick(values) : scalar() }

    /// Bytes that are not JSON, many of them nearly.
    private mutating func garbage() -> Document {
        let inner = value().text
        let text = "{\"a\":\(inner)}"
        var bytes: Data
        switch Int.random(in: 0..<18, using: &random) {
        case 0: bytes = Data()
        case 1: bytes = Data((0..<20).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 2: bytes = Data(text.utf8.dropLast())
        case 3: bytes = Data([0xEF, 0xBB, 0xBF] + text.utf8)
        case 4: bytes = Data(text.utf8 + [0])
        case 5: bytes = Data(text.utf8 + [0] + "garbage".utf8)
        case 6: bytes = Data([0] + text.utf8)
        case 7: bytes = Data("{\"a\":\(inner),\"x\":\"".utf8 + [0xFF] + "\"}".utf8)
        case 8:
            bytes = Data(
                "{\"a\":\"".utf8 + pick([[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80]])
                    + "\"}".utf8)
        case 9: bytes = Data("{a:\(inner)}".utf8)
        case 10: bytes = Data("{\"a\":\(inner),}".utf8)
        case 11:
            bytes = Data(
                pick([
                    "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":5.}", "{\"a\":0x10}", "{\"a\":NaN}",
                    "{\"a\":Infinity}", "{\"a\":1e}",
                ]).utf8)
        case 12: bytes = Data("{\"a\":\"x\ny\"}".utf8)
        case 13: bytes = Data("{'a':\(inner)}".utf8)
        case 14: bytes = Data("/*x*/\(text)".utf8)
        case 15: bytes = Data("\(text)\(text)".utf8)
        case 16: bytes = Data(#"{"a":"\x41"}"#.utf8)
        default: bytes = Data("{\"a\":\(inner)\u{A0}}".utf8)
        }
        return Document(bytes: bytes, value: nil)
    }

    // MARK: Queries

    package mutating func filter(depth: Int = 0) -> ModelFilter {
        // As an index over several members needs it.
        if depth == 0, chance(20) {
            let equal = ModelFilter.compare(.path(pick([Self.paths[0], Self.paths[1]])), "==", .literal(literal()))
            return .and(equal, filter(depth: 1))
        }
        // As a partial index needs it.
        if depth == 0, chance(20) {
            let terms = pick(Self.partialIndexes).condition.map { term in
                ModelFilter.compare(.path(Self.paths[term.path]), "==", .literal(term.value))
            }
            return terms.reduce(filter(depth: 1)) { chance(50) ? .and($0, $1) : .and($1, $0) }
        }
        if depth < 3, chance(40) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: return .and(filter(depth: depth + 1), filter(depth: depth + 1))
            case 2, 3: return .or(filter(depth: depth + 1), filter(depth: depth + 1))
            default: return .not(filter(depth: depth + 1))
            }
        }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .exists(path())
        case 1: return .begins(.path(path()), pick(["", "a", "a/", "\u{E9}", "1", "K"]))
        case 2: return .contains(.path(path()), pick(["a", "b", "\u{301}", "1"]))
        case 3: return .compare(.path(path()), comparison(), .path(path()))
        case 4:
            return .compare(
                .length(path()), comparison(), .literal(.number("\(Int.random(in: 0...4, using: &random))")))
        case 5: return .compare(.literal(literal()), comparison(), .path(path()))
        case 6: return .compare(.path(Self.hardPath), comparison(), .literal(.number(pick(Self.hardNumbers))))
        default: return .compare(.path(path()), comparison(), .literal(literal()))
        }
    }

    private mutating func comparison() -> String { pick(["==", "==", "!=", "<", "<=", ">", ">="]) }

    private mutating func path() -> [ModelValue.Step] {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...11: pick([Self.paths[0], Self.paths[1]])
        case 12...17: pick(Self.paths)
        case 18: Self.hardPath
        default: [.name("list"), pick([.index(0), .index(-1), .index(1), .name("a")])]
        }
    }

    private mutating func literal() -> ModelValue {
        for _ in 0..<8 {
            let value = chance(70) ? pick(values) : chance(10) ? .number(pick(Self.hardNumbers)) : scalar()
            switch value {
            case .array, .object, .broken: continue
            default: return value
            }
        }
        return .number("1")
    }

    package struct Term {
        package let path: [ModelValue.Step]
        package let isDescending: Bool
        /// Which keys have their places in the order of an index: all, or some.
        package let ordered: Int
    }

    /// The numbers of the paths of indexes over several members.
    package static let compoundPaths = [[0, 1], [1, 0], [1, 2, 0], [3, 0, 4, 1], [0, 8, 6]]

    /// The conditions and the order of indexes of some documents: the numbers of paths, and values.
    package static let partialIndexes: [(condition: [(path: Int, value: ModelValue)], order: [Int])] = {
        func text(_ text: String) -> ModelValue { .string(Array(text.unicodeScalars), spelling: "\"\(text)\"") }
        return [
            ([(0, .bool(false))], [1]), ([(0, .number("1"))], [1, 2]), ([(1, text("a"))], [0]),
            ([(1, .null)], [0, 8]), ([(0, .number("-1")), (1, text("\u{E9}"))], [2]), ([(1, .number("1"))], [1]),
            ([(0, text(""))], [4, 1]), ([(1, text("e\u{301}"))], [0]),
        ]
    }()

    package mutating func order() -> [Term] {
        // As an index over several members has it, or any other.
        var ofIndex = chance(50) ? pick(Self.compoundPaths) : []
        ofIndex.removeFirst(ofIndex.count > 2 && chance(40) ? 1 : 0)
        if ofIndex.isEmpty { ofIndex = Array(repeating: -1, count: pick([0, 1, 1, 1, 2, 2])) }
        return ofIndex.map { number in
            let path =
                number >= 0 ? Self.paths[number] : chance(60) ? Self.paths[0] : pick(Self.paths + [Self.hardPath])
            return Term(path: path, isDescending: chance(50), ordered: pick([0, 0, 0, 1, 2, 3]))
        }
    }
}
