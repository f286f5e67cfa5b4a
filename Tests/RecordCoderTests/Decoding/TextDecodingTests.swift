import Foundation
import Testing

/// Bytes that are not UTF-8; RFC 3629, section 3 and 4.
private let invalidSequences: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xC2, 0xC2], [0xE0, 0x80, 0x80],
    [0xE0, 0x9F, 0xBF],
    [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
    [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
    [0xEF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x28, 0x8C, 0xBC],
    [0xF4, 0x90, 0x80, 0x80],
    [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    [0xFF, 0xFE], [0xC3, 0xA9, 0x80], [0xC0, 0xA2],
]

@Suite struct TextDecodingTests {

    struct Named: Decodable {
        var a: String?
    }

    /// Compares the results for a JSON string as a value, a member, a key and in an ignored member.
    private func expectSame(_ literal: Data, sourceLocation: SourceLocation = #_sourceLocation) {
        func around(_ start: String, _ end: String) -> Data { Data(start.utf8) + literal + Data(end.utf8) }
        func check<Value: Decodable>(_ type: Value.Type, _ json: Data) {
            expectSameAsFoundation(type, json, sourceLocation: sourceLocation)
        }
        check(String.self, literal)
        check(String?.self, around(" ", "\n"))
        check([String].self, around("[", "]"))
        check([String].self, around("[\"b\",", ",\"c\"]"))
        check(Named.self, around("{\"a\":", "}"))
        check(Named.self, around("{\"a\":\"x\",\"b\":", "}"))
        check(Named.self, around("{\"b\":[", "],\"a\":\"x\"}"))
        check(Named.self, around("{", ":1,\"a\":\"x\"}"))
        check(Named.self, around("{\"a\":\"x\",", ":1}"))
        check(Named.self, around("{\"a\":\"x\",\"b\":{", ":1}}"))
        check([String: Int].self, around("{", ":1}"))
        check(URL.self, literal)
        check(Data.self, literal)
        check(Int.self, literal)
    }

    private func expectSame(_ literal: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expectSame(Data(literal.utf8), sourceLocation: sourceLocation)
    }

    @Test(
        "Strings of several scripts, with and without escapes",
        arguments: [
            #""""#, #""a""#, #""/""#, #""Grüße""#, #""漢字かな""#, #""السلام""#, #""😀👩‍👩‍👧🇩🇪""#, "\"e\u{301}\"", "\"\u{E9}\"",
            "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
            "\"\u{2028}\u{2029}\u{FEFF}\"", "\"a\u{FEFF}\"", "\"\u{FFFE}\u{FFFF}\"", "\"\u{FFFD}\"",
            #""\"\\\/\b\f\n\r\t""#, #""\u0061\u00e9\u00E9\u6f22\uD83D\uDE00""#, #""\u0000""#,
            #""\u001f\u007f\uffff\ufffe\ufeff""#, #""\ud800\udc00\udbff\udfff""#,
            #""a\u0301""#, #""\n""#, #""\\n""#, #""\\""#, #""\\\\\"""#,
            #""text\u0020with\u0020escapes and more text after them\n""#,
        ])
    func scripts(literal: String) {
        expectSame(literal)
    }

    @Test("Strings of every length around the width of a word, with an escape or another script at every position")
    func lengths() {
        for length in 0...35 {
            let text = String(repeating: "x", count: length)
            expectSameAsFoundation(String.self, "\"\(text)\"")
            for special in [#"\n"#, "é", "😀", #"\u00e9"#, "\u{1}", "\\", "\""] where length <= 18 {
                for place in 0...length {
                    let literal = "\"\(text.prefix(place))\(special)\(text.dropFirst(place))\""
                    expectSameAsFoundation([String].self, "[\(literal)]")
                }
            }
        }
    }

    @Test(
        "Malformed escapes are rejected",
        arguments: [
            #""\"#, #""\""#, #""\a""#, #""\'""#, #""\0""#, #""\x41""#, #""\u""#, #""\u0""#, #""\u00""#, #""\u004""#,
            #""\u004g""#, #""\u00 1""#, #""\u+041""#, #""\u-041""#, #""\U00000041""#,
            #""\u{41}""#, #""\v""#, #""\ ""#, "\"\\\n\"", #""\u"#, #""\u004"#, #""\u0041"#, #""\é""#, #""\N""#,
            #""\uD83D\u""#, #""\uD83D\uDE""#, #""\uD83D\n""#,
        ])
    func escapes(literal: String) {
        expectSame(literal)
    }

    @Test(
        "Lone surrogates are rejected",
        arguments: [
            #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\ud800""#,
            #""\udc00\ud800""#, #""\ud83d\ude00\ud83d""#, #""\udfff""#, #""x\udbff""#,
            #""\ud800\"#, #""\ud800\u"#, #""\ud800\ud8"#, #""\uD800\uE000""#, #""\uD800\uDBFF""#,
        ])
    func surrogates(literal: String) {
        expectSame(literal)
    }

    @Test("Control characters are rejected unescaped and accepted escaped", arguments: UInt8(0)...UInt8(0x20))
    func controls(byte: UInt8) {
        expectSame(Data([0x22, byte, 0x22]))
        expectSame(Data([0x22, 0x61, byte, 0x62, 0x22]))
        expectSame(Data("\"abcdefghij".utf8) + [byte] + Data("klmnopqrst\"".utf8))
        expectSame(String(format: "\"\\u%04x\"", Int(byte)))
        expectSame(Data([0x22, 0x5C, byte, 0x22]))
    }

    @Test("Invalid UTF-8 is rejected anywhere in a document, even in ignored members", arguments: invalidSequences)
    func invalidUTF8(bytes: [UInt8]) {
        let quote = Data([0x22])
        expectSame(quote + bytes + quote)
        expectSame(quote + Data("abcdefgh".utf8) + bytes + Data("ijklmnopqrstuvw".utf8) + quote)
        expectSame(quote + Data("\\n".utf8) + bytes + quote)
        // Cut off at the end of the buffer.
        expectSame(quote + bytes)
        expectSameAsFoundation([Int].self, Data("[1,".utf8) + bytes + Data("2]".utf8))
        expectSameAsFoundation(Int.self, bytes + Data("1".utf8))
        expectSameAsFoundation(Int.self, Data("1".utf8) + bytes)
    }

    @Test(
        "The limits of valid UTF-8 are accepted",
        arguments: [
            [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
        ] as [[UInt8]])
    func validUTF8(bytes: [UInt8]) {
        expectSame(Data([0x22]) + bytes + [0x22])
        #expect(expectSameAsFoundation(String.self, Data([0x22]) + bytes + [0x22]) != nil)
    }

    @Test(
        "Strings that don't end",
        arguments: [
            #"""#, #""a"#, #""abcdefgh"#, #""abcdefghijklmnop"#, #""a\""#, "'a'", "a", "“a”", #""a"b"#, #""a""b""#,
        ])
    func unfinished(literal: String) {
        expectSame(literal)
    }

    @Test("A string of a megabyte, and one that consists of escapes")
    func long() {
        expectSameAsFoundation(String.self, "\"\(String(repeating: "text", count: 250_000))\"")
        expectSameAsFoundation(String.self, "\"\(String(repeating: #"\u00e9\n"#, count: 20_000))\"")
        expectSameAsFoundation([String].self, "[\"\(String(repeating: "é", count: 50_000))\"]")
    }
}
