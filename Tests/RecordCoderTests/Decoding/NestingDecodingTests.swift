import Foundation
import RecordCoder
import Testing

@Suite struct NestingDecodingTests {

    /// Arrays in arrays.
    struct Arrays: Decodable {
        var depth: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            depth = container.isAtEnd ? 1 : try container.decode(Arrays.self).depth + 1
        }
    }

    /// Objects in objects.
    final class Objects: Decodable {
        var a: Objects?
    }

    struct Member: Decodable {
        var b: Int
    }

    private func nested(_ start: String, _ end: String, _ depth: Int, around inner: String = "") -> String {
        String(repeating: start, count: depth) + inner + String(repeating: end, count: depth)
    }

    @Test(
        "The limit of nesting is the same as Foundation's",
        arguments: [1, 2, 63, 64, 65, 255, 256, 257] + Array(508...516) + [600, 1_023, 1_024, 1_025])
    func limit(depth: Int) {
        expectSameAsFoundation(Arrays.self, nested("[", "]", depth))
        expectSameAsFoundation(Objects.self, nested(#"{"a":"#, "}", depth, around: "null"))
        expectSameAsFoundation(StructDecodingTests.Empty.self, nested(#"{"a":"#, "}", depth, around: "{}"))
        expectSameAsFoundation(Member.self, #"{"a":\#(nested("[", "]", depth)),"b":1}"#)
        expectSameAsFoundation(Member.self, #"{"b":1,"a":\#(nested(#"{"a":"#, "}", depth, around: "1"))}"#)
        expectSameAsFoundation(Member.self, #"{"b":1,"a":\#(nested(#"[{"a":"#, "}]", depth / 2, around: "1"))}"#)
        expectSameAsFoundation([Int?].self, "[\(nested("[", "]", depth))]")
        // Unfinished and mismatched. Foundation crashes if the surplus bracket is the last byte, hence the space.
        expectSameAsFoundation(Arrays.self, nested("[", "", depth) + " ")
        expectSameAsFoundation(Objects.self, nested(#"{"a":"#, "", depth))
        expectSameAsFoundation(Arrays.self, nested("[", "}", depth))
        expectSameAsFoundation(Arrays.self, nested("[", "]", depth) + "]")
    }

    @Test("A nesting depth of 100,000 is rejected without a crash", arguments: ["", "]", "x"])
    func hostile(end: String) {
        expectSameAsFoundation(Arrays.self, nested("[", end, 100_000))
        expectSameAsFoundation(Objects.self, nested(#"{"a":"#, end == "]" ? "}" : end, 100_000))
        expectSameAsFoundation(Member.self, #"{"b":1,"a":\#(nested("[", end, 100_000))}"#)
        expectSameAsFoundation(Member.self, #"{"b":1,"a":\#(nested("[{\"a\":", end, 100_000))}"#)
    }

    @Test("A document that ends with a surplus bracket, at which Foundation crashes, is rejected")
    func bracketAtTheEnd() throws {
        for json in [nested("[", "", 513), " " + nested(#"{"a":"#, "", 512) + "[", nested("[1,", "", 512) + "["] {
            #expect(throws: DecodingError.self) { try RecordDecoder().decode(Arrays.self, from: Data(json.utf8)) }
            #expect(throws: DecodingError.self) {
                try RecordDecoder().decode([String: Int].self, from: Data(json.utf8))
            }
            for encoding in [String.Encoding.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian] {
                let data = try #require(json.data(using: encoding))
                #expect(throws: DecodingError.self) { try RecordDecoder().decode(Arrays.self, from: data) }
            }
        }
    }

    @Test("Many siblings don't count as depth")
    func siblings() {
        expectSameAsFoundation(
            [Arrays].self, "[" + Array(repeating: "[[[]]]", count: 2_000).joined(separator: ",") + "]")
        expectSameAsFoundation(
            Member.self, #"{"a":[\#(Array(repeating: "{}", count: 2_000).joined(separator: ","))],"b":2}"#)
    }
}
