import Foundation
import RecordCoderFuzz
import Testing

@Suite struct PathDecodingTests {

    /// Records the coding paths of the decoder and of each container, and descends.
    struct Place: Decodable {
        var paths: [String] = []
        var number: String?
        var below: [Place] = []

        init(from decoder: any Decoder) throws {
            paths.append(exactDescription(ofPath: decoder.codingPath))
            let single = try decoder.singleValueContainer()
            paths.append(exactDescription(ofPath: single.codingPath))
            if let container = try? decoder.container(keyedBy: KeyDecodingTests.Name.self) {
                paths.append(exactDescription(ofPath: container.codingPath))
                for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                    below.append(try container.decode(Place.self, forKey: key))
                    let other = try container.superDecoder(forKey: key)
                    below.append(try Place(from: other))
                    paths.append(exactDescription(ofPath: other.codingPath))
                }
            } else if var container = try? decoder.unkeyedContainer() {
                paths.append(exactDescription(ofPath: container.codingPath))
                while !container.isAtEnd {
                    below.append(try container.decode(Place.self))
                    paths.append(exactDescription(ofPath: container.codingPath))
                }
            } else {
                number = try single.decode(JSONValue.self) == .null ? nil : "a value"
            }
        }
    }

    @Test(
        "Decoders and containers have the same coding paths as Foundation's",
        arguments: [
            "1", "null", "[]", "{}", "[1,[2,[3]],{}]", #"{"a":1,"b":[1,{"c":[true]}],"é":{"\n":{"":"x"}}}"#,
            #"[[[[{"1":[{"2":[]}]}]]]]"#, #"{"a":{"super":{"0":[null]}}}"#,
        ])
    func paths(json: String) {
        #expect(expectSameAsFoundation(Place.self, json) != nil)
        #expect(expectSameAsFoundation([Place?].self, "[\(json),null,\(json)]") != nil)
        #expect(expectSameAsFoundation([String: Place].self, #"{"one":\#(json),"two":\#(json)}"#) != nil)
        #expect(expectSameAsFoundation([Int: [Place]].self, #"{"7":[\#(json)]}"#) != nil)
        #expect(expectSameAsFoundation([DictionaryDecodingTests.Plain: Place].self, #"["red",\#(json)]"#) != nil)
        #expect(expectSameAsFoundation([DictionaryDecodingTests.Color: Place].self, #"{"red":\#(json)}"#) != nil)
    }

    /// Records its coding path without decoding its JSON.
    struct Quiet: Decodable {
        enum CodingKeys: String, CodingKey { case list, map, plain = "renamed" }
        var list: [Note]
        var map: [String: Note]
        var plain: Note?

        struct Note: Decodable {
            var path: String
            init(from decoder: any Decoder) throws { path = exactDescription(ofPath: decoder.codingPath) }
        }
    }

    @Test("Paths through synthesized types")
    func synthesized() {
        #expect(expectSameAsFoundation(Quiet.self, #"{"list":[1,2],"map":{"x":{},"y":[]},"renamed":"z"}"#) != nil)
        #expect(expectSameAsFoundation([Quiet].self, #"[{"renamed":null,"map":{},"list":[{"list":1}]}]"#) != nil)
    }

    /// Records the user info at each level.
    struct Context: Decodable {
        static let tenant = CodingUserInfoKey(rawValue: "tenant").unsafelyUnwrapped
        var tenants: [String] = []

        init(from decoder: any Decoder) throws {
            tenants.append("\(decoder.userInfo[Self.tenant] ?? "nobody") of \(decoder.userInfo.count)")
            if var container = try? decoder.unkeyedContainer() {
                while !container.isAtEnd { tenants += try container.decode(Context.self).tenants }
                tenants.append("\(try decoder.unkeyedContainer().superDecoderTenant())")
            }
        }
    }

    @Test("The user info is available at each level", arguments: ["1", "[1,[2,{}],3]"])
    func userInfo(json: String) {
        expectSameAsFoundation(Context.self, json)
        let value = expectSameAsFoundation(Context.self, json, userInfo: [Context.tenant: "someone"])
        #expect(value?.tenants.first == "someone of 1")
    }

    /// Records the paths of all values that a container returns for keys whose spelling differs from the document's.
    enum OtherSpelling: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            typealias Name = KeyDecodingTests.Name
            let container = try decoder.container(keyedBy: Name.self)
            for key in ["\u{E9}", "e\u{301}", "K", "\u{212A}"].map({ Name($0) }) {
                notes.note { exactDescription(ofPath: try container.superDecoder(forKey: key).codingPath) }
                notes.note { try container.superDecoder(forKey: key).container(keyedBy: Name.self).allKeys.count }
                notes.note { try container.superDecoder(forKey: key).singleValueContainer().decode(Int.self) }
                notes.note {
                    exactDescription(ofPath: try container.nestedContainer(keyedBy: Name.self, forKey: key).codingPath)
                }
                notes.note { exactDescription(ofPath: try container.nestedUnkeyedContainer(forKey: key).codingPath) }
                notes.note { try container.decode(Place.self, forKey: key).paths }
                notes.note { try container.decode([Place].self, forKey: key).map(\.paths) }
                notes.note { try container.decode(Bool.self, forKey: key) }
                notes.note { try container.decodeIfPresent([Int].self, forKey: key) }
                notes.note { try container.decode(StructDecodingTests.Inner.self, forKey: key) }
            }
        }
    }

    @Test(
        "Paths have the requested keys, not those of the document",
        arguments: ["1", "[]", "[1]", "[[1]]", "{}", #"{"x":"y"}"#, "null", #""text""#])
    func otherSpelling(json: String) {
        expectSameAsFoundation(Notes<OtherSpelling>.self, "{\"\u{E9}\":\(json),\"\u{212A}\":\(json)}")
        expectSameAsFoundation(Notes<OtherSpelling>.self, "{\"e\u{301}\":\(json),\"K\":\(json)}")
        expectSameAsFoundation(Notes<OtherSpelling>.self, #"{"\u00e9":\#(json),"\u212a":\#(json)}"#)
    }

    @Test(
        "Errors contain their coding path",
        arguments: [
            #"{"a":[{"x":1},{"x":"one"}]}"#, #"{"a":[{"x":1},{"y":1}]}"#, #"{"a":[{"x":1},null]}"#,
            #"{"a":[{"x":null}]}"#, #"{"a":[{"x":1.5}]}"#, #"{"a":[{"x":1e400}]}"#,
            #"{"a":[{"x":99999999999999999999}]}"#, #"{"a":{"x":1}}"#, #"{"a":[[]]}"#, #"{"b":1}"#,
        ])
    func errors(json: String) {
        #expect(expectSameAsFoundation([String: [StructDecodingTests.Inner]].self, json) == nil)
        #expect(expectSameAsFoundation([[String: [StructDecodingTests.Inner]]].self, "[{},\(json)]") == nil)
    }
}

extension UnkeyedDecodingContainer {
    /// The user info of a decoder for the next element, if there is one.
    fileprivate func superDecoderTenant() throws -> String {
        var container = self
        if container.isAtEnd { return "at the end" }
        return "\(try container.superDecoder().userInfo.count)"
    }
}
