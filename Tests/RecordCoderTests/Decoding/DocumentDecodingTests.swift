import Foundation
import RecordCoderFuzz
import Testing

/// The encodings that RFC 4627 knows, without and with a byte-order mark.
private let unicodeEncodings: [(String, String.Encoding, [UInt8])] = [
    ("UTF-8 with mark", .utf8, [0xEF, 0xBB, 0xBF]),
    ("UTF-16BE", .utf16BigEndian, []), ("UTF-16BE with mark", .utf16BigEndian, [0xFE, 0xFF]),
    ("UTF-16LE", .utf16LittleEndian, []), ("UTF-16LE with mark", .utf16LittleEndian, [0xFF, 0xFE]),
    ("UTF-32BE", .utf32BigEndian, []), ("UTF-32BE with mark", .utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ("UTF-32LE", .utf32LittleEndian, []), ("UTF-32LE with mark", .utf32LittleEndian, [0xFF, 0xFE, 0, 0]),
]

@Suite struct DocumentDecodingTests {

    struct Member: Decodable {
        var a: [Int]?
    }

    /// Compares types that decode all of a document, a part of it and nothing of it.
    private func expectSame(_ json: Data, sourceLocation: SourceLocation = #_sourceLocation) {
        func expectSame<Value: Decodable>(_ type: Value.Type) {
            expectSameAsFoundation(type, json, sourceLocation: sourceLocation)
        }
        expectSame(JSONValue.self)
        expectSame(Member.self)
        expectSame(StructDecodingTests.Empty.self)
        expectSame([Int].self)
        expectSame([String: [Int]].self)
        expectSame(Int.self)
        expectSame(String.self)
        expectSame(Bool?.self)
    }

    private func expectSame(_ json: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expectSame(Data(json.utf8), sourceLocation: sourceLocation)
    }

    @Test(
        "Every kind of value can be a whole document, with space around it",
        arguments: ["1", "-1.5", #""text""#, "true", "false", "null", "[]", "{}", "[1,2]", #"{"a":[1]}"#])
    func fragments(json: String) {
        for space in ["", " ", "\n", "\t\r\n  "] {
            expectSame(space + json + space)
        }
        for other in ["\u{B}", "\u{C}", "\u{0}", "\u{A0}", "\u{85}", "\u{2028}", "\u{FEFF}", ";", "\u{1}"] {
            expectSame(json + other)
            expectSame(other + json)
            expectSame("[\(other)\(json)]")
            expectSame("[\(json)\(other)]")
        }
    }

    @Test("An empty document is rejected", arguments: ["", " ", "\n\n", "\u{0}", "\u{FEFF}", "//", "\t \r"])
    func empty(json: String) {
        expectSame(json)
    }

    @Test(
        "Commas too many, too few and in odd places",
        arguments: [
            "[1,]", "[1,2,]", "[1,,2]", "[,1]", "[,]", "[1 2]", "[1,2", "[1,", "[", "[ ", "]", "[]]", "[[]", "[1]]",
            "[1,]]", "[1, ]", "[1 ,\n]", "[1,2}", "[}",
            #"{"a":[1],}"#, #"{"a":[1],,}"#, #"{,"a":[1]}"#, "{,}", #"{"a":[1] "b":2}"#, #"{"a":[1]"#, #"{"a":[1],"#,
            "{", "{ ", "}", "{}}", "{{}", #"{"a":[1]}}"#, #"{"a":[1]]"#,
            #"{"a"}"#, #"{"a":}"#, #"{"a":,}"#, #"{"a",[1]}"#, #"{"a"::[1]}"#, #"{:[1]}"#, #"{"a" [1]}"#,
            #"{"a":[1]:2}"#, #"{"a"=[1]}"#, #"{"a":[1,]}"#, #"{"a":[1],"b"}"#, #"{"a":[1],"b":}"#,
            #"{"a":[1], }"#, #"{"b":[1,],"a":[1]}"#, #"{"b":{"c":1,},"a":[1]}"#, #"{"a":[1];"b":1}"#, #"[1];"#,
            #"[1:2]"#, #"["a":1]"#, #"{1:2}"#, #"{null:2}"#, #"{"a":[1]},"#, "1,", ",1", "[1],", "true,",
        ])
    func commas(json: String) {
        expectSame(json)
    }

    @Test(
        "Anything after a value is rejected",
        arguments: [
            "[1]x", "[1] x", "[1][2]", "{}{}", "{} []", "1 2", "null null", "nullnull", "truefalse", #""a" "b""#,
            "[1]\u{0}", "{}\u{0}\u{0}", "[1]//", "{}/**/", "[1]\\", "[1]\u{FEFF}", "\"a\"1",
        ])
    func garbage(json: String) {
        expectSame(json)
    }

    @Test(
        "Words similar to true, false or null",
        arguments: [
            "t", "tr", "tru", "truE", "True", "TRUE", "truee", "true1", "f", "fals", "falsE", "falsy", "n", "nul",
            "nulL", "nil", "Null", "NULL", "none", "nulls", "undefined", "yes",
            "[t", "[tru]", "[true", "[nul]", "[null", "[fals]", #"{"a":nul}"#, #"{"a":null"#, #"{"b":tru,"a":[1]}"#,
            #"{"b":falze,"a":[1]}"#, #"{"b":nulp,"a":[1]}"#, #"{"b":abc,"a":[1]}"#,
        ])
    func words(json: String) {
        expectSame(json)
    }

    @Test(
        "Comments and other additions of JSON5 are rejected",
        arguments: [
            "// note\n[1]", "/* note */[1]", "[1/* note */]", "[1]// note", "[1, // one\n2]", "# note\n[1]", "{a:[1]}",
            "{'a':[1]}", "['a']", "'a'", "[0x10]", "[+1]", "[.5]", "[5.]", "[Infinity]", "[-Infinity]", "[NaN]",
            "\"a\\\nb\"", "[1,\u{A0}2]", "{$a:1}", "{\"a\":[1],//\n}",
        ])
    func extensions(json: String) {
        expectSame(json)
    }

    @Test(
        "Malformed text in an ignored part",
        arguments: [
            "[01]", "[1.]", "[-]", "[1e]", "[+1]", "[tru]", #"["\x"]"#, #"["\ud800"]"#, #"{"\ud800":1}"#, #"{"c"}"#,
            "[1 2]", "[", "{", #"""#, "[1,]", #"{"c":1,}"#, "[\u{1}]", "\"\u{1}\"", "[[[[01]]]]", "1e400", "-", "1..2",
            "1e400e", "--", "1-1", "[1e400]",
        ])
    func unread(part: String) {
        expectSame(#"{"a":[1],"b":\#(part)}"#)
        expectSame(#"{"b":\#(part),"a":[1]}"#)
        expectSame(#"{"b":{"c":[\#(part)]},"a":[1]}"#)
    }

    @Test("Encodings other than UTF-8, and byte-order marks", arguments: unicodeEncodings)
    func encodings(name: String, encoding: String.Encoding, mark: [UInt8]) throws {
        for json in [#"{"a":[1,2,3]}"#, "[1]", "1", #""é😀""#, "", " ", #"{"é":"漢字"}"#, "[1,", "nul", "12"] {
            let text = try #require(json.data(using: encoding))
            expectSame(mark + text)
            expectSame(mark + text.dropLast())
            expectSame(mark + text + [0])
            expectSame(mark + mark + text)
        }
    }

    @Test(
        "Bytes similar to a byte-order mark",
        arguments: [
            [0xEF], [0xEF, 0xBB], [0xEF, 0xBB, 0xBF], [0xFE], [0xFF], [0xFE, 0xFF], [0xFF, 0xFE], [0, 0], [0, 0, 0],
            [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0], [0x31, 0], [0, 0x31], [0x31, 0, 0, 0], [0, 0, 0, 0x31],
            [0x31, 0x32, 0, 0], [0x5B, 0, 0x5D], [0x5B, 0x5D, 0], [0x22, 0, 0x22, 0], [0, 0x22, 0, 0x22],
            [0xEF, 0xBB, 0xBE, 0x31], [0xEF, 0xBB, 0x31],
        ] as [[UInt8]])
    func marks(bytes: [UInt8]) {
        expectSame(Data(bytes))
        expectSame(Data(bytes) + Data("[1]".utf8))
        expectSame(Data("[1]".utf8) + Data(bytes))
    }

    @Test("Every document of one byte, and of two bytes that could begin one")
    func short() {
        for first in UInt8.min...UInt8.max {
            expectSameAsFoundation(JSONValue.self, Data([first]))
            for second in Array(" 0-.e\"\\[]{},:tfnu".utf8) {
                expectSameAsFoundation(Int?.self, Data([first, second]))
                expectSameAsFoundation(Int?.self, Data([second, first]))
            }
        }
    }

    @Test("Every prefix of a document is rejected as Foundation rejects it")
    func beginnings() {
        let document = Data(
            #" {"a": [1, -2.5e3, "té\u00e9\n", {"b": null}], "c": {"d": [true, false]}, "é": ""} "#.utf8)
        for count in 0...document.count {
            expectSameAsFoundation(JSONValue.self, document.prefix(count))
            expectSameAsFoundation(Member.self, document.prefix(count))
            expectSameAsFoundation(JSONValue.self, document.suffix(count))
        }
    }
}
