import Foundation
import RecordCoder
import RecordCoderFuzz
import Testing

/// A key for any member.
private typealias Name = KeyDecodingTests.Name

/// Decoders and containers work after the call that made them.
@Suite struct EscapedDecoderTests {

    /// Keeps a container of each kind, and reads from them only on demand.
    struct Keeper: Decodable, CustomReflectable {
        private let keyed: Result<KeyedDecodingContainer<Name>, any Error>
        private let unkeyed: Result<any UnkeyedDecodingContainer, any Error>
        private let nested: Result<KeyedDecodingContainer<Name>, any Error>
        private let base: Result<any Decoder, any Error>

        init(from decoder: any Decoder) throws {
            let keyed = Result { try decoder.container(keyedBy: Name.self) }
            self.keyed = keyed
            unkeyed = Result { try decoder.unkeyedContainer() }
            nested = Result { try keyed.get().nestedContainer(keyedBy: Name.self, forKey: Name("a")) }
            base = Result { try keyed.get().superDecoder() }
        }

        /// Reads from all kept containers.
        func read() -> [String] {
            var notes: [String] = []
            notes.note { try keyed.get().allKeys.map(\.stringValue).sorted() }
            notes.note { try keyed.get().decode(JSONValue.self, forKey: Name("b")) }
            notes.note { try keyed.get().decodeIfPresent(String.self, forKey: Name("b")) }
            notes.note { try nested.get().decode(Int.self, forKey: Name("x")) }
            notes.note { try nested.get().contains(Name("y")) }
            notes.note { try base.get().container(keyedBy: Name.self).allKeys.count }
            notes.note {
                var container = try unkeyed.get()
                var values: [JSONValue] = []
                while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
                return values
            }
            return notes
        }

        var customMirror: Mirror { Mirror(self, children: ["read": read()]) }
    }

    @Test(
        "Containers can be read after their call, and after other calls",
        arguments: [
            #"{"a":{"x":1,"y":null},"b":"text é\n","super":{"z":1}}"#, #"{"b":[1,"2",{}],"a":[]}"#, "[1,[2],{\"a\":3}]",
            "1",
            "null", #""text that is longer than a small string""#, "{}", "[]",
        ])
    func afterwards(json: String) {
        #expect(expectSameAsFoundation(Keeper.self, json) != nil)
        #expect(expectSameAsFoundation([Keeper].self, "[\(json),\(json)]") != nil)
        #expect(expectSameAsFoundation([String: Keeper].self, "{\"k\":\(json)}") != nil)
    }

    /// Keeps its decoder without decoding a value.
    ///
    /// Foundation's decoder for a nested value is the same object as that for the whole document, so a later read
    /// decodes the document. Ours still decodes the nested value.
    struct LateReader: Decodable {
        private let decoder: any Decoder

        init(from decoder: any Decoder) throws { self.decoder = decoder }

        func read() -> [String] {
            var notes = [exactDescription(ofPath: decoder.codingPath)]
            notes.note { try JSONValue(from: decoder) }
            notes.note { try decoder.singleValueContainer().decode(JSONValue.self) }
            return notes
        }
    }

    @Test(
        "A decoder reads its own value, even in a batch in which others follow",
        arguments: ["1", "[1,[2]]", #"{"a":"é\n"}"#])
    func ownValue(json: String) throws {
        let expected = exactDescription(of: try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8)))
        let records = ["[\(json)]", "[[]]", #"["other"]"#, "[\(json)"].map { Data($0.utf8) }
        let outcomes = RecordDecoder().decode([LateReader].self, fromEach: records)
        #expect(try outcomes[0].get()[0].read() == [#"["Index 0"/0]"#, expected, expected])
        let single = try RecordDecoder().decode(LateReader.self, from: Data(json.utf8))
        _ = try RecordDecoder().decode([Int].self, from: Data("[3,4,5]".utf8))
        #expect(single.read() == ["[]", expected, expected])
    }

    @Test("A later read doesn't depend on the decoded bytes")
    func withoutBytes() throws {
        func decode(_ number: Int) throws -> Keeper {
            // The bytes are deallocated when this returns.
            let json = #"{"a":{"x":\#(number)},"b":"text that is longer than a small string \#(number)"}"#
            return try RecordDecoder().decode(Keeper.self, from: Data(json.utf8))
        }
        let keepers = try (0..<100).map(decode)
        for (number, keeper) in keepers.enumerated() {
            let notes = keeper.read()
            #expect(notes[3] == "\(number)")
            #expect(notes[2] == "some(\"text that is longer than a small string \(number)\")")
        }
    }

    /// Stores its decoder elsewhere, even if it then fails.
    final class Shared: @unchecked Sendable {
        // @unchecked because each test uses an instance on one thread.
        static let key = CodingUserInfoKey(rawValue: "shared").unsafelyUnwrapped
        var decoders: [any Decoder] = []
    }

    struct Failing: Decodable {
        init(from decoder: any Decoder) throws {
            (decoder.userInfo[Shared.key] as? Shared)?.decoders.append(decoder)
            throw CancellationError()
        }
    }

    @Test("A decoder that was kept from a failed call can be read")
    func afterFailure() throws {
        let shared = Shared()
        let decoder = RecordDecoder(userInfo: [Shared.key: shared])
        #expect(throws: CancellationError.self) { try decoder.decode([Failing].self, from: Data("[[1,2]]".utf8)) }
        _ = try decoder.decode([Int].self, from: Data("[3,4,5]".utf8))
        // The first decoder is ours; the following one is Foundation's, from the fallback.
        let kept = try #require(shared.decoders.first)
        #expect(try [Int](from: kept) == [1, 2])
    }

    /// Keeps a partly read container, with which the next value continues.
    struct Handover: Decodable, CustomReflectable {
        private let container: any UnkeyedDecodingContainer
        var first: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            first = try container.decode(Int.self)
            self.container = container
        }

        var customMirror: Mirror {
            var copy = container
            var other = container
            var notes: [String] = []
            while !copy.isAtEnd { notes.note { try copy.decode(Int.self) } }
            notes.note { try other.decode(Int.self) }
            notes.note { other.currentIndex }
            notes.note { copy.currentIndex }
            return Mirror(self, children: ["first": first, "notes": notes])
        }
    }

    @Test(
        "A partly read container continues at its position, as does each copy",
        arguments: ["[1,2,3]", "[1]", "[1,2]"])
    func halfRead(json: String) {
        #expect(expectSameAsFoundation(Handover.self, json) != nil)
        #expect(expectSameAsFoundation([Handover].self, "[\(json),\(json)]") != nil)
    }
}
