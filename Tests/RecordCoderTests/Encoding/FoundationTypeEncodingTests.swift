import Foundation
import RecordCoder
import Testing

@Suite struct FoundationTypeEncodingTests {

    @Test("UUIDs survive")
    func uuids() throws {
        try expectRoundTrip(UUID())
        try expectRoundTrip([UUID(), UUID()])
        let uuid = try #require(UUID(uuidString: "01234567-89ab-cdef-FEDC-BA9876543210"))
        #expect(expectSameEncoding(["id": uuid]) == #"{"id":"01234567-89AB-CDEF-FEDC-BA9876543210"}"#)
    }

    @Test(
        "Dates survive", arguments: [0, -0.0, 1, 816_961_782.005_372_2, -63_114_076_800, 64_092_211_200, 1e-9, 1e300])
    func dates(seconds: Double) throws {
        try expectRoundTrip([Date(timeIntervalSinceReferenceDate: seconds)])
    }

    @Test("Data of each length survives", arguments: 0...20)
    func data(count: Int) throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: 251 &* $0 &+ 17) })
        try expectRoundTrip([data])
        try expectRoundTrip(["slice": (data + data).dropFirst(count / 2)])
    }

    @Test("All bytes survive in data")
    func bytes() throws {
        try expectRoundTrip(Data((0...255).flatMap { [$0, 255 - $0] }))
        try expectRoundTrip(Data(repeating: 7, count: 100_000))
    }

    @Test("URLs survive")
    func urls() throws {
        for text in ["https://example.com/a?b=c#d", "file:///tmp/a%20b", "mailto:a@b.org", "relative/path", "?q"] {
            try expectRoundTrip([try #require(URL(string: text))])
        }
        let base = try #require(URL(string: "https://example.com/a/"))
        expectSameEncoding([try #require(URL(string: "b/c", relativeTo: base))])
    }

    @Test(
        "Decimals survive",
        arguments: ["0", "1.50", "-0.001", "123456789012345678901234567890.12345678", "1e-100", "9e100"])
    func decimals(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        try expectRoundTrip(["price": decimal])
    }

    @Test("A decimal that is not a number is an error, in any position; Foundation writes what no decoder reads")
    func notADecimal() throws {
        #expect(try JSONEncoder().encode(Decimal.nan) == Data("NaN".utf8))
        let encoder = RecordEncoder()
        #expect(throws: EncodingError.self) { try encoder.encode(Decimal.nan) }
        #expect(throws: EncodingError.self) { try encoder.encode([1, Decimal.nan]) }
        #expect(throws: EncodingError.self) { try encoder.encode(["a": [Decimal.nan as Decimal?]]) }
        let results = encoder.encode(each: [1, Decimal.nan, 2])
        #expect(throws: EncodingError.self) { try results[1].get() }
        #expect(try results[0].get() == Data("1".utf8) && results[2].get() == Data("2".utf8))
    }

    @Test("Other types of Foundation and the standard library encode themselves")
    func others() throws {
        try expectRoundTrip([IndexSet([1, 2, 3, 7])])
        try expectRoundTrip([DateComponents(year: 2026, month: 11)])
        try expectRoundTrip([0..<3, 5..<9])
        try expectRoundTrip(Set([1, 2, 3]))
        try expectRoundTrip(ContiguousArray(["a", "b"]))
        try expectRoundTrip([CGFloat(1.5)])
        try expectRoundTrip(Locale(identifier: "de_DE"))
    }
}
