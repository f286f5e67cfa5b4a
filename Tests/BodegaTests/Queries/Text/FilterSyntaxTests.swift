import Foundation
import RecordCoder
import Testing

@testable import Bodega

/// What the grammar of RFC 9535 allows and forbids beside what other tests show.
@Suite struct FilterSyntaxTests {

    private func accepts(_ filter: String, _ item: String) throws -> Bool {
        let parsed = try JSONFilterParser.parse(filter)
        return try Array(item.utf8).withUnsafeBytes { bytes in
            parsed.accepts(bytes, try #require(JSONScanner.document(bytes)))
        }
    }

    @Test(arguments: ["@ .a == 1", "@\n.a==1", "@ ['a'] == 1", "@.b .c == 2", "@ .b\t['c'] == 2", "@.b\r\n.c==2"])
    func `Blanks may precede a segment`(filter: String) throws {
        #expect(try accepts(filter, #"{"a":1,"b":{"c":2}}"#))
        #expect(try !accepts(filter, #"{"a":2,"b":{"c":1}}"#))
    }

    @Test(arguments: [
        "@. a == 1", #"@.a == "a\'b""#, #"@.a == 'a\"b'"#, "@.a[9007199254740992] == 1", "@.a[-9007199254740992] == 1",
        "@ a == 1", "@.a == 1 .b",
    ])
    func `What the grammar does not have is refused`(filter: String) {
        #expect(throws: StorageError.self) { try JSONFilterParser.parse(filter) }
    }

    @Test func `A hundred pairs of parentheses are allowed`() throws {
        for (open, close) in [("(", ")"), ("!(", ")")] {
            let filter = { String(repeating: open, count: $0) + "@.a == 1" + String(repeating: close, count: $0) }
            #expect(try accepts(filter(100), #"{"a":1}"#))
            #expect(throws: StorageError.self) { try JSONFilterParser.parse(filter(101)) }
        }
    }
}
