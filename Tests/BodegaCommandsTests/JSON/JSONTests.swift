@testable import BodegaCommands
import RecordCoder
import Testing

@Suite("The JSON scanner")
struct JSONTests {

    private func scan(_ text: String) -> Result<Range<Int>, JSONScanError> {
        Array(text.utf8).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            return Result { () throws(JSONScanError) in try scanner.skipValue() }
        }
    }

    @Test(
        "finds the end of every kind of value",
        arguments: [
            "0", "-0", "12.5e-3", "1E+9", "true", "false", "null", #""""#, #""a\"b\\\u00e9\/""#, "[]", "[ ]", "{}",
            "{ }",
            #"[1,[2,[]],{"a":[{}]}]"#, #"{"a":1,"b":{"c":[true,null]},"":""}"#, "[\t1 ,\r\n2 ]",
        ]
    )
    func acceptsValues(_ text: String) {
        #expect(scan(text) == .success(0..<text.utf8.count))
        #expect(scan("  \(text) ,") == .success(2..<2 + text.utf8.count))
    }

    @Test(
        "rejects invalid JSON at its first invalid byte",
        arguments: [
            ("[1,]", 3), ("{,}", 1), (#"{"a"}"#, 4), (#"{"a":1,}"#, 7), ("[1 2]", 3), ("tru3", 3), ("-x", 1),
            ("1.x", 2),
            ("1ex", 2), ("\"a\nb\"", 2), (#""\x""#, 2), (#""\u12g4""#, 5), ("]", 0), ("{]", 1), ("[}", 1), ("'a'", 0),
        ]
    )
    func rejects(_ text: String, offset: Int) {
        #expect(scan(text) == .failure(.unexpectedByte(at: offset)))
    }

    /// By section 7 of RFC 8259.
    @Test("accepts each byte in a string but those that need an escape, at every offset")
    func bytesOfStrings() {
        for offset in 0..<20 {
            for byte in UInt8.min...UInt8.max {
                var text = Array("\"\(String(repeating: "x", count: 20))\",".utf8)
                text[offset + 1] = byte
                let found = text.withUnsafeBytes { bytes in
                    var scanner = JSONScanner(bytes)
                    return Result { () throws(JSONScanError) in try scanner.skipString() }
                }
                switch byte {
                case UInt8(ascii: "\""): #expect(found == .success(1..<offset + 1))
                // The byte after it is no escape, but for the last one, which is the end of the string.
                case UInt8(ascii: "\\"):
                    #expect(found == .failure(offset == 19 ? .unexpectedEnd : .unexpectedByte(at: offset + 2)))
                case 0..<0x20: #expect(found == .failure(.unexpectedByte(at: offset + 1)))
                default: #expect(found == .success(1..<21))
                }
            }
        }
    }

    @Test("distinguishes an incomplete text from an invalid one")
    func reportsIncompleteText() {
        let whole = #"{"a":[1.5e1,"\u00e9\n",true],"b":{}}"#
        for length in 0..<whole.utf8.count {
            #expect(scan(String(whole.prefix(length))) == .failure(.unexpectedEnd), "\(length) bytes")
        }
    }

    @Test("refuses what is nested deeper than a maximum", arguments: [[0], [1, 0], [1, 2, 1], [3, 1, 2, 5, 4]])
    func maximumDepth(_ depths: [Int]) {
        // Arrays and objects with one element, empty ones innermost, beside brackets in a text.
        let values = depths.map { depth in
            (0..<depth).reversed().reduce("") { inner, level in
                let isArray = level.isMultiple(of: 2)
                return isArray ? "[\(inner)]" : #"{"[{":\#(inner.isEmpty ? "1" : inner)}"#
            }
        }
        let text = "[" + values.map { $0.isEmpty ? #""[[[[[[[""# : $0 }.joined(separator: ", ") + "]"
        let depth = 1 + (depths.max() ?? 0)
        func isFound(_ maximumDepth: Int) -> Bool {
            text.utf8.withContiguousStorageIfAvailable {
                JSONScanner.document(UnsafeRawBufferPointer($0), maximumDepth: maximumDepth) != nil
            } ?? false
        }
        #expect(isFound(depth) && !isFound(depth - 1) && isFound(.max))
    }

    @Test("visits the members of an object in the pass that finds out whether it is one")
    func membersInOnePass() throws {
        let texts = [
            "{}", " { } ", #"{"a":1}"#, #" { "a" : [ {"b":2} ] , "a" : "}" } "#,
            #"{"a":{"b":{}},"c":null,"\u00e9":""}"#,
        ]
        for text in texts {
            for (end, extra) in [(text.utf8.count, ""), (text.utf8.count, "x"), (text.utf8.count, " {}")]
                + (0..<text.utf8.count).map({ ($0, "") })
            {
                let bytes = Array(text.utf8.prefix(end)) + Array(extra.utf8)
                bytes.withUnsafeBytes { bytes in
                    var members: [[Range<Int>]] = []
                    let isObject = JSONScanner.forEachMember(of: bytes) { members.append([$0, $1]) }
                    let document = JSONScanner.document(bytes)
                    #expect(isObject == (document != nil))
                    guard isObject, let document else { return }
                    var expected: [[Range<Int>]] = []
                    JSONScanner.forEachMember(of: bytes, document) { expected.append([$0, $1]) }
                    #expect(members == expected)
                }
            }
        }
        for text in ["[]", "1", #""a""#, #"{"a":1,}"#, "{,}", #"{"a"}"#, #"{a:1}"#, ""] {
            #expect(!Array(text.utf8).withUnsafeBytes { JSONScanner.forEachMember(of: $0) { _, _ in } })
        }
    }

    @Test("follows nesting of any depth")
    func deepNesting() {
        let depth = 200_000
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(scan(text) == .success(0..<2 * depth))
    }

    @Test(
        "finds the value at a path",
        arguments: [
            ("a", #"{"a":1}"#, "1"), ("a.b", #"{"x":{"b":0},"a":{"c":[],"b":"v"}}"#, #""v""#), ("a", #"{"b":1}"#, nil),
            ("a.b", #"{"a":[{"b":1}]}"#, nil), ("a", "[]", nil), ("a", "{}", nil), ("a", #"{"a":1,"a":2}"#, "2"),
            (#"a\.b"#, #"{"a":{"b":1},"a.b":2}"#, "2"), ("é", #"{"\u00e9":3}"#, "3"),
            ("a", #"{"a" : [ 1 ] }"#, "[ 1 ]"),
        ] as [(String, String, String?)]
    )
    func findsPath(_ path: String, in text: String, found: String?) throws {
        let names = try JSONPath(parsing: path).names
        let bytes = Array(text.utf8)
        let (range, end) = try bytes.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            let range = try scanner.skipValue(finding: names[...])
            return (range, scanner.position)
        }
        #expect(range.map { String(decoding: bytes[$0], as: UTF8.self) } == found)
        #expect(end == bytes.count)
    }

    @Test("A path that is empty or ends in a backslash is an error", arguments: ["", "\\"])
    func wrongPaths(_ path: String) {
        #expect(throws: ToolError.self) { try JSONPath(parsing: path) }
    }

    @Test(
        "Every character survives being written and read", arguments: [0..<0x300, 0x2000..<0x2100, 0x1F600..<0x1F640])
    func stringsRoundTrip(_ values: Range<UInt32>) {
        let string = values.compactMap(Unicode.Scalar.init).reduce(into: "") { $0.unicodeScalars.append($1) }
        var bytes: [UInt8] = []
        JSONString.encode(string, into: &bytes)
        #expect(!bytes.contains { $0 < 0x20 })
        let decoded = bytes.dropFirst().dropLast().withUnsafeBytes(JSONString.decode)
        #expect(decoded.map { Array($0.utf8) } == Array(string.utf8))
    }

    @Test(
        "decodes escapes, and refuses a lone surrogate",
        arguments: [
            (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\ud83d\uDE00"#, "😀"), (#"\ud83d"#, nil),
            (#"\ude00"#, nil),
            (#"\ud83d\n"#, nil), (#"\ud83d\ud83d"#, nil), (#"\u0000"#, "\0"),
        ] as [(String, String?)]
    )
    func decodes(_ text: String, string: String?) {
        #expect(Array(text.utf8).withUnsafeBytes(JSONString.decode) == string)
    }

    @Test("UTF-8 validation agrees with the standard library at every offset")
    func utf8Validity() {
        let interesting: [UInt8] =
            [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED]
            + [0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF]
        for a in interesting {
            for b in interesting {
                for c in interesting {
                    for d in [0x41, 0x80, 0xBF, 0xC2] as [UInt8] {
                        let bytes = [a, b, c, d]
                        let expected = Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes
                        if bytes.withUnsafeBytes(isValidUTF8) != expected {
                            Issue.record("\(bytes) should be \(expected)")
                        }
                        let shifted = Array("0123456".utf8) + bytes
                        if shifted.withUnsafeBytes(isValidUTF8) != expected {
                            Issue.record("\(shifted) should be \(expected)")
                        }
                    }
                }
            }
        }
    }
}
