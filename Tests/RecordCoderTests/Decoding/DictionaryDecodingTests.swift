import Foundation
import Testing

@Suite struct DictionaryDecodingTests {

    enum Color: String, Codable, CodingKeyRepresentable { case red, green }
    enum Plain: String, Codable { case red, green }
    enum Level: Int, Codable, CodingKeyRepresentable { case low = 1, high = 2 }

    struct Path: Hashable, Decodable {
        var parts: [String]
    }

    /// A key with a custom string.
    struct Version: Hashable, Decodable, CodingKeyRepresentable {
        var major: Int
        var minor: Int

        init?<Key: CodingKey>(codingKey: Key) {
            let parts = codingKey.stringValue.split(separator: ".").compactMap { Int($0) }
            guard parts.count == 2 else { return nil }
            (major, minor) = (parts[0], parts[1])
        }
        var codingKey: any CodingKey { KeyDecodingTests.Name("\(major).\(minor)") }
    }

    @Test(
        "Dictionaries with keys of all kinds",
        arguments: [
            "{}", #"{"a":1}"#, #"{"a":1,"b":2,"c":3}"#, #"{"1":1,"2":2}"#, #"{"01":1}"#, #"{"+1":1}"#,
            #"{"-1":1}"#, #"{" 1":1}"#, #"{"1.0":1}"#, #"{"9223372036854775808":1}"#, #"{"":1}"#,
            #"{"red":1,"green":2}"#, #"{"red":1,"blue":2}"#,
            #"{"1.2":1}"#, #"{"1.02":1}"#, #"{"1.2.3":1}"#, #"["red",1,"green",2]"#, #"["red",1,"green"]"#,
            #"["red"]"#, "[]", #"["red",1,"red",2]"#, #"[{"parts":["a"]},1]"#, #"[{"parts":["a"]},1,{"parts":[]},2]"#,
            #"[1,2]"#, #"{"a":"b"}"#, #"{"a":null}"#,
            "null", "1", #"{"a":1,"a":2}"#, #"{"\u0061":1}"#, #"{"a":1.0}"#, #"{"a":1.5}"#,
            "{\"\u{E9}\":1,\"e\u{301}\":2}",
        ])
    func keys(json: String) {
        expectSameAsFoundation([String: Int].self, json)
        expectSameAsFoundation([String: Double].self, json)
        expectSameAsFoundation([String: String].self, json)
        expectSameAsFoundation([String: Int?].self, json)
        expectSameAsFoundation([Int: Int].self, json)
        expectSameAsFoundation([UInt8: Int].self, json)
        expectSameAsFoundation([Color: Int].self, json)
        expectSameAsFoundation([Plain: Int].self, json)
        expectSameAsFoundation([Level: Int].self, json)
        expectSameAsFoundation([Path: Int].self, json)
        expectSameAsFoundation([Version: Int].self, json)
        expectSameAsFoundation([UUID: Int].self, json)
        expectSameAsFoundation([Double: Int].self, json)
    }

    @Test(
        "Dictionaries of everything",
        arguments: [
            #"{"a":{}}"#, #"{"a":{"b":1}}"#, #"{"a":[1,2],"b":[]}"#, #"{"a":{"b":{"c":1}}}"#,
            #"{"a":{"x":1},"b":{"x":2,"y":3}}"#, #"{"a":"2"}"#, #"{"a":700000000}"#, #"{"a":"http://a.b/"}"#,
        ])
    func values(json: String) {
        expectSameAsFoundation([String: [String: Int]].self, json)
        expectSameAsFoundation([String: [Int]].self, json)
        expectSameAsFoundation([String: [String: [String: Int]]].self, json)
        expectSameAsFoundation([String: StructDecodingTests.Inner].self, json)
        expectSameAsFoundation([String: Date].self, json)
        expectSameAsFoundation([String: URL].self, json)
        expectSameAsFoundation([String: Decimal].self, json)
        expectSameAsFoundation([String: Bool?]?.self, json)
    }

    @Test("A dictionary with ten thousand keys")
    func many() {
        let json = "{\((0..<10_000).map { "\"key \($0)\":\($0)" }.joined(separator: ","))}"
        #expect(expectSameAsFoundation([String: Int].self, json)?.count == 10_000)
    }

    struct Member: Decodable {
        var map: [String: Int]
        var numbered: [Int: String]
        var colored: [Color: [Double]]
    }

    @Test("Dictionaries as members")
    func members() {
        #expect(
            expectSameAsFoundation(Member.self, #"{"map":{"a":1},"numbered":{"1":"x"},"colored":{"red":[1,2.5]}}"#)
                != nil)
        expectSameAsFoundation(Member.self, #"{"map":{"a":1},"numbered":{"x":"x"},"colored":{"red":[1,2.5]}}"#)
        expectSameAsFoundation(Member.self, #"{"map":{"a":1},"numbered":{},"colored":{"blue":[1,2.5]}}"#)
        expectSameAsFoundation(Member.self, #"{"map":{"a":1},"numbered":{},"colored":["red",[1,2.5]]}"#)
    }
}
