import BodegaTesting
import Foundation

/// Mutates a document in a few places.
struct Mutator {
    private var bytes: [UInt8]
    private let subjects: [Subject]
    private var random: SeededGenerator

    /// Makes a document from a subject's or a random one, with parts of others.
    static func document(from subject: Subject, of subjects: [Subject], _ random: inout SeededGenerator) -> Data {
        let json = random.next() % 8 == 0 ? RandomDocument.make(&random) : subject.json
        var mutator = Mutator(bytes: Array(json), subjects: subjects, random: SeededGenerator(seed: random.next()))
        repeat { mutator.mutate() } while mutator.random.next() % 3 == 0
        // A buffer that ends with the document, so that the address sanitizer detects reads past the end.
        return Data(mutator.bytes)
    }

    private mutating func mutate() {
        switch random.next() % 14 {
        case 0: flipBit()
        case 1: replaceByte()
        case 2: insert([Self.bytesOfInterest[below(Self.bytesOfInterest.count)]])
        case 3: removeRange()
        case 4: duplicateRange()
        case 5: splice()
        case 6: swapTokens()
        case 7: truncate()
        case 8, 9: replaceNumber()
        case 10: insertInText()
        case 11: insert(Array(Self.space[below(Self.space.count)].utf8))
        case 12: replaceValue()
        default: replaceWord()
        }
    }

    // MARK: Bytes

    private mutating func flipBit() {
        guard !bytes.isEmpty else { return }
        bytes[below(bytes.count)] ^= 1 << UInt8(random.next() % 8)
    }

    private mutating func replaceByte() {
        guard !bytes.isEmpty else { return }
        bytes[below(bytes.count)] = Self.bytesOfInterest[below(Self.bytesOfInterest.count)]
    }

    private mutating func insert(_ inserted: [UInt8]) {
        bytes.insert(contentsOf: inserted, at: below(bytes.count + 1))
    }

    private mutating func removeRange() {
        bytes.removeSubrange(range(atMost: 12))
    }

    private mutating func duplicateRange() {
        let range = range(atMost: 40)
        bytes.insert(
            contentsOf: Array(bytes[range]), at: random.next() % 2 == 0 ? range.upperBound : below(bytes.count + 1))
    }

    private mutating func splice() {
        let other = Array(subjects[below(subjects.count)].json)
        let start = below(other.count)
        let part = other[start..<min(other.count, start + 1 + below(60))]
        bytes.replaceSubrange(range(atMost: 60), with: part)
    }

    private mutating func truncate() {
        if random.next() % 4 == 0 {
            bytes.removeFirst(below(bytes.count + 1))
        } else {
            bytes.removeLast(below(bytes.count + 1))
        }
    }

    // MARK: Tokens

    private mutating func swapTokens() {
        let places = bytes.indices.filter { Self.structure.contains(bytes[$0]) }
        guard !places.isEmpty else { return }
        let place = places[below(places.count)]
        if random.next() % 2 == 0 {
            bytes.swapAt(place, places[below(places.count)])
        } else {
            bytes[place] = Self.structure[below(Self.structure.count)]
        }
    }

    private mutating func replaceNumber() {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let places = bytes.indices.filter { isDigit(bytes[$0]) }
        guard !places.isEmpty else { return }
        let place = places[below(places.count)]
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(ascii: "0") + UInt8(random.next() % 10)
        case 1:
            bytes.insert(
                contentsOf: (0...below(24)).map { _ in UInt8(ascii: "0") + UInt8(random.next() % 10) }, at: place)
        default:
            var (start, end) = (place, place)
            while start > 0, isDigit(bytes[start - 1]) || Self.insideNumbers.contains(bytes[start - 1]) { start -= 1 }
            while end < bytes.count, isDigit(bytes[end]) || Self.insideNumbers.contains(bytes[end]) { end += 1 }
            bytes.replaceSubrange(start..<end, with: Self.numbers[below(Self.numbers.count)].utf8)
        }
    }

    private mutating func insertInText() {
        let quotes = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\"") }
        guard !quotes.isEmpty else { return }
        let place = min(bytes.count, quotes[below(quotes.count)] + 1 + below(10))
        let texts = Self.texts
        bytes.insert(contentsOf: texts[below(texts.count)], at: place)
    }

    private mutating func replaceValue() {
        let places = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") || bytes[$0] == UInt8(ascii: ",") }
        guard !places.isEmpty else { return }
        let start = places[below(places.count)] + 1
        var end = start
        while end < bytes.count, !Self.structure.contains(bytes[end]) { end += 1 }
        bytes.replaceSubrange(start..<end, with: Self.values[below(Self.values.count)].utf8)
    }

    private mutating func replaceWord() {
        insert(Array(Self.words[below(Self.words.count)].utf8))
    }

    // MARK: Choices

    private mutating func below(_ bound: Int) -> Int {
        bound > 0 ? Int(random.next() % UInt64(bound)) : 0
    }

    private mutating func range(atMost count: Int) -> Range<Int> {
        let start = below(bytes.count)
        return start..<min(bytes.count, start + 1 + below(count))
    }

    private static let structure = Array("[]{},:\"".utf8)
    private static let insideNumbers = Array("+-.eE".utf8)
    private static let bytesOfInterest =
        Array("[]{},:\"\\/0123456789+-.eEtrufalsn \n\t\r".utf8)
        + [0x00, 0x01, 0x1F, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xEF, 0xBB, 0xF0, 0xF4, 0xF5, 0xFE, 0xFF]
    private static let space = [
        " ", "\n", "\t", "\r", "        ", "                   ", "\u{B}", "\u{A0}", "\u{FEFF}", "//\n", "/**/",
    ]
    private static let values = [
        "null", "true", "false", "0", "-0", "1.5", "\"\"", "\"text\"", "[]", "{}", "[1]", #"{"a":1}"#, "", " ", "nul",
        "1e400", "[[]]",
        "\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"", "9223372036854775808", "\"\\ud800\"",
    ]
    private static let words = [
        "null", "true", "false", "tru", "NaN", "Infinity", "-Infinity", ",,", ":", "\"a\":", "\"a\":1,", "0x1", "'a'",
    ]
    private static let numbers = [
        "0", "-0", "-0.0", "01", "1.", ".5", "1e", "1e+", "-", "+1", "1e400", "-1e400", "1e-400", "0e5", "0e400", "127",
        "128", "-128", "-129",
        "255", "256", "2147483648", "4294967296", "9007199254740991", "9007199254740993", "-9007199254740993",
        "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616",
        "1.0", "1e2", "100e-2", "1.5e1", "9007199254740993.0", "1.7976931348623157e308", "1.7976931348623159e308",
        "4.9e-324", "2e-324",
        "2.2250738585072011e-308", "0.1", "0.30000000000000004", "123456789012345678901234567890", "1e22", "1e23",
        "3.4028236e38", "1e38",
        "0.000000000000000000000000000000000000001", "340282366920938463463374607431768211456", "1E5", "1e05",
        "12345678.12345678", "5e-1",
        "100000000000000000000000000000000000000000000000000e-50", "99999999999999999", "1e1000000000000000000000",
        "-0e-0",
    ]
    private static let texts: [[UInt8]] =
        [
            #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\n"#, #"\u0061"#, #"\u0000"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\ud800"#,
            #"\udc00"#, #"\ud800\ud800"#,
            #"\ud83d\n"#, #"\u"#, #"\u12"#, #"\u00g0"#, #"\x"#, #"\"#, "é", "e\u{301}", "漢", "😀", "\u{FFFF}",
            "\u{10FFFF}", "\n", "\u{0}", "\u{7F}", "\"", "text of some more bytes",
        ].map { Array($0.utf8) } + [
            [0x80], [0xC0, 0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xEF, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xFF], [0xE0, 0x9F, 0xBF],
        ]
}
