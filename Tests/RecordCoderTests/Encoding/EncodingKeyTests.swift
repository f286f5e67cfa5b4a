import Foundation
import RecordCoder
import Testing

/// Objects with more keys, longer keys and more types of keys than are kept in tables.
@Suite struct EncodingKeyTests {

    @Test("Objects may have any number of keys", arguments: [1, 8, 9, 63, 64, 65, 66, 129, 1000, 5000])
    func count(count: Int) {
        expectSameEncoding(Members(names: (0..<count).map { "key \($0)" }))
        expectSameEncoding((0..<3).map { _ in Members(names: (0..<count).map { "key \($0)" }) })
    }

    @Test("A duplicate key is detected in an object with any number of keys", arguments: [2, 64, 65, 66, 500])
    func duplicates(count: Int) {
        for duplicate in [0, count / 2, count - 1] {
            expectSameEncoding(
                Members(names: (0..<count).map { "key \($0)" } + ["key \(duplicate)", "end"]), by: .foundation)
        }
    }

    @Test("Objects of one type may have different keys, in any order")
    func orders() {
        let names = (0..<70).map { "key \($0)" }
        expectSameEncoding(
            [
                Members(names: Array(names[0..<5])), Members(names: names[0..<5].reversed()),
                Members(names: Array(names[3..<9])), Members(names: Array(names[0..<60])),
                Members(names: names[10..<70].reversed()), Members(names: names), Members(names: ["a"]),
            ]
        )
        expectSameEncoding(
            [Members(names: ["key 0", "a"]), Members(names: ["a", "key 0", "a"])], by: .foundation)
    }

    @Test("Keys may have any length", arguments: [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 66, 1000])
    func length(count: Int) {
        for character in ["k", "\"", "é"] {
            let name = String(repeating: character, count: count)
            expectSameEncoding(Members(names: ["a", name, "b"]))
            expectSameEncoding([Members(names: [name, "c"]), Members(names: [name, "d", name])], by: .foundation)
        }
    }

    @Test("Objects with many keys may be nested")
    func nested() {
        let names = (0..<80).map { "key \($0)" }
        expectSameEncoding(
            Custom { encoder in
                var outer = encoder.container(keyedBy: AnyKey.self)
                for (index, name) in names.enumerated() {
                    if index % 20 == 0 {
                        try outer.encode(Members(names: names), forKey: AnyKey(stringValue: name))
                    } else {
                        try outer.encode(index, forKey: AnyKey(stringValue: name))
                    }
                }
            }
        )
        expectSameEncoding(["a": [Members(names: names), Members(names: names + ["key 7"])]], by: .foundation)
    }

    @Test("There may be any number of types of keys, in one record and in many")
    func types() throws {
        let all = chain(Generic<Int>.self, count: 300)
        expectSameEncoding(all)
        let encoder = RecordEncoder()
        for value in all {
            #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == #"{"value":[1]}"#)
        }
    }

    /// Values of as many types.
    private func chain<Value: Encodable & Fillable>(_ type: Value.Type, count: Int) -> [Custom] {
        let first = Custom { try Value.filled.encode(to: $0) }
        return count == 1 ? [first] : [first] + chain(Generic<Value>.self, count: count - 1)
    }
}

/// An object with some keys, whose values are their indices.
private struct Members: Encodable {
    var names: [String]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for (index, name) in names.enumerated() {
            try container.encode(index, forKey: AnyKey(stringValue: name))
        }
    }
}

private protocol Fillable {
    static var filled: Self { get }
}

/// An object with a type of keys of its own for each type of values.
private struct Generic<Value>: Encodable, Fillable {
    enum Key: CodingKey {
        case value
    }

    static var filled: Generic<Value> { Generic() }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode([1], forKey: .value)
    }
}

/// Keys that are equal strings with different spellings.
@Suite struct KeySpellingTests {

    /// A record of one member with a key of its own.
    private struct Named: Encodable {
        let name: String

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key(stringValue: name))
        }
    }

    @Test("A key is written in its own spelling, regardless of earlier spellings")
    func spelling() throws {
        for name in ["e\u{301}", "\u{E9}", "K", "\u{212A}", "e\u{301}", "K"] {
            let json = try RecordEncoder().encode(Named(name: name))
            #expect(Array(json) == Array("{\"\(name)\":1}".utf8))
        }
    }
}
