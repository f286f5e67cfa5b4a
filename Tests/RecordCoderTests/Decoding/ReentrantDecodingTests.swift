import Foundation
import RecordCoder
import Testing

@Suite struct ReentrantDecodingTests {

    /// JSON within a JSON string, which is decoded while the outer JSON is.
    struct Envelope: Decodable {
        var before: Int
        var content: [Int]?
        var envelope: [Envelope]
        var after: String

        enum CodingKeys: CodingKey { case before, content, envelope, after }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            before = try container.decode(Int.self, forKey: .before)
            if let text = try container.decodeIfPresent(String.self, forKey: .content) {
                content = try RecordDecoder().decode([Int].self, from: Data(text.utf8))
            }
            if let text = try container.decodeIfPresent(String.self, forKey: .envelope) {
                envelope = [
                    try RecordDecoder(userInfo: decoder.userInfo.mapValues { _ in 1 }).decode(
                        Envelope.self, from: Data(text.utf8))
                ]
            } else {
                envelope = []
            }
            after = try container.decode(String.self, forKey: .after)
        }
    }

    /// The JSON of an envelope with others in it.
    private func envelope(depth: Int, content: String = "[1,2]") throws -> String {
        var json = #"{"before":0,"content":"\#(content)","after":"text that is longer than a small string"}"#
        for number in 0..<depth {
            let inner = String(decoding: try JSONEncoder().encode(json), as: UTF8.self)
            json = #"{"after":"é \#(number)","envelope":\#(inner),"content":"[\#(number)]","before":\#(number)}"#
        }
        return json
    }

    @Test("A type can decode within its own decoding", arguments: [0, 1, 2, 5])
    func nested(depth: Int) throws {
        #expect(expectSameAsFoundation(Envelope.self, try envelope(depth: depth)) != nil)
        #expect(
            expectSameAsFoundation([Envelope].self, "[\(try envelope(depth: depth)),\(try envelope(depth: 1))]") != nil)
    }

    @Test(
        "Errors of the inner decoding are passed on", arguments: [0, 1, 3], ["", "[", "[1.5]", "{}", "[null]", "null"])
    func errors(depth: Int, content: String) throws {
        #expect(expectSameAsFoundation(Envelope.self, try envelope(depth: depth, content: content)) == nil)
    }

    /// Decodes and encodes with both coders while it is decoded.
    struct Busy: Decodable {
        var copies: [String]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            copies = []
            while !container.isAtEnd {
                let text = try container.decode(String.self)
                let records = RecordEncoder().encode(each: [[text], [text, text]])
                for outcome in RecordDecoder().decode([String].self, fromEach: try records.map { try $0.get() }) {
                    copies += try outcome.get()
                }
                copies += try JSONDecoder().decode([String].self, from: RecordEncoder().encode([text]))
                copies += try RecordDecoder().decode([String].self, from: JSONEncoder().encode([text]))
            }
        }
    }

    @Test("Whole batches can be coded while a value is decoded")
    func batches() {
        #expect(
            expectSameAsFoundation(Busy.self, #"["a","é\n","text that is longer than a small string",""]"#)?.copies
                .count == 20)
        #expect(expectSameAsFoundation([Busy].self, #"[["a"],[],["b","c"]]"#) != nil)
    }
}
