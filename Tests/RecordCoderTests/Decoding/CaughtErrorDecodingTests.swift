import Foundation
import RecordCoderFuzz
import Testing

@Suite struct CaughtErrorDecodingTests {

    /// Keeps the valid elements of an array, and the errors of the others.
    struct Lenient<Element: Decodable>: Decodable {
        var elements: [Element] = []
        var errors: [String] = []

        /// Accepts any object.
        private struct Skipped: Decodable {}

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                do {
                    elements.append(try container.decode(Element.self))
                } catch {
                    errors.append(
                        "at \(container.currentIndex): \(exactDescription(ofError: error, withKeyTypes: false))")
                    // A skip that fails ends the loop, which would otherwise never end.
                    do {
                        _ = try container.decode(Skipped.self)
                    } catch {
                        errors.append(exactDescription(ofError: error, withKeyTypes: false))
                        break
                    }
                }
            }
        }
    }

    /// Keeps the decodable part of each member.
    struct Patient: Decodable {
        var notes: [String] = []

        enum CodingKeys: String, CodingKey { case id, name, link, when, inner, list, missing }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            notes.note { try container.decode(UUID.self, forKey: .id) }
            notes.note { try container.decode(String.self, forKey: .name) }
            notes.note { try container.decode(URL.self, forKey: .link) }
            notes.note { try container.decodeIfPresent(Date.self, forKey: .when) }
            notes.note { try container.decode(StructDecodingTests.Inner.self, forKey: .inner) }
            notes.note { try container.decode([Int8].self, forKey: .list) }
            notes.note { try container.decode(Lenient<StructDecodingTests.Inner>.self, forKey: .list) }
            notes.note { try container.decode(Int.self, forKey: .missing) }
            notes.note { try container.decode([String: [Int]].self, forKey: .inner) }
            notes.append("\((try? container.decode(Int.self, forKey: .name)) ?? -1)")
            notes.append("\((try? container.decode(String.self, forKey: .name)) ?? "-")")
        }
    }

    @Test(
        "Errors that a type catches are Foundation's, and the type can continue",
        arguments: [
            #"{"id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","name":"n","link":"http://a.b","when":1,"inner":{"x":1},"list":[1,2]}"#,
            #"{"id":"x","name":1,"link":"","when":"now","inner":{"x":"y"},"list":[1,300]}"#,
            #"{"id":null,"name":null,"link":null,"when":null,"inner":null,"list":null}"#, "{}",
            #"{"list":[{"x":1},2,{"y":1},null,{"x":2}],"inner":{"x":[1]},"name":"n","id":[],"link":{}}"#,
            #"{"inner":[],"list":{},"name":{},"id":0,"link":"http://[","when":1e400}"#, #"{"missing":1.5,"name":"5"}"#,
        ])
    func members(json: String) {
        #expect(expectSameAsFoundation(Patient.self, json) != nil)
        #expect(expectSameAsFoundation([Patient].self, "[\(json),\(json)]") != nil)
        #expect(expectSameAsFoundation([String: Patient].self, #"{"é":\#(json)}"#) != nil)
    }

    @Test(
        "Invalid elements are skipped",
        arguments: [
            "[]", "[1,2,3]", #"[1,"two",3,null,[4],5.5,{"x":6},300,-1,true]"#, #"[{"x":1},{"x":"1"},{"x":2,"y":3}]"#,
            "[[1],[2,\"3\"],[]]",
        ])
    func elements(json: String) {
        #expect(expectSameAsFoundation(Lenient<Int>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<UInt8>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<String>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<Double?>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<StructDecodingTests.Inner>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<Lenient<Int>>.self, json) != nil)
        #expect(expectSameAsFoundation(Lenient<URL>.self, json) != nil)
    }

    enum Either: Decodable {
        case number(Int)
        case text(String)
        case inner(StructDecodingTests.Inner)
        case many([Either])

        init(from decoder: any Decoder) throws {
            if let value = try? Int(from: decoder) {
                self = .number(value)
            } else if let value = try? String(from: decoder) {
                self = .text(value)
            } else if let value = try? StructDecodingTests.Inner(from: decoder) {
                self = .inner(value)
            } else {
                self = .many(try [Either](from: decoder))
            }
        }
    }

    @Test(
        "Types are tried one after another",
        arguments: [
            "1", "1.5", #""a""#, #"{"x":1}"#, #"{"y":1}"#, #"[1,"a",{"x":2},[3,[]]]"#, "[1,null]", "[[[[[1.5]]]]]",
            "true", "[]",
        ])
    func alternatives(json: String) {
        expectSameAsFoundation(Either.self, json)
        expectSameAsFoundation([String: Either].self, "{\"a\":\(json)}")
        expectSameAsFoundation(JSONValue.self, json)
    }

    struct OwnError: Error, Equatable {
        var place: String
    }

    /// Throws an error that is not a coder's.
    struct Refusing: Decodable {
        init(from decoder: any Decoder) throws {
            if try decoder.singleValueContainer().decode(Int.self) < 0 {
                throw OwnError(place: exactDescription(ofPath: decoder.codingPath))
            }
        }
    }

    @Test("Errors that types throw are passed on unchanged", arguments: ["1", "-1", "[-1]", "x"])
    func ownErrors(json: String) {
        expectSameAsFoundation(Refusing.self, json)
        expectSameAsFoundation([Refusing].self, "[1,\(json)]")
        expectSameAsFoundation([String: [Refusing]].self, "{\"a\":[\(json)]}")
        expectSameAsFoundation(Lenient<Refusing>.self, "[1,\(json),2]")
    }

    /// Throws `dataCorruptedError` of each kind of container.
    enum Corrupted: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            let keyed = try decoder.container(keyedBy: KeyDecodingTests.Name.self)
            var unkeyed = try keyed.nestedUnkeyedContainer(forKey: .init("list"))
            notes.note { throw DecodingError.dataCorruptedError(in: unkeyed, debugDescription: "unkeyed") }
            _ = try unkeyed.decode(Int.self)
            notes.note { throw DecodingError.dataCorruptedError(in: unkeyed, debugDescription: "unkeyed") }
            notes.note {
                throw DecodingError.dataCorruptedError(forKey: .init("x"), in: keyed, debugDescription: "keyed")
            }
            throw DecodingError.dataCorruptedError(
                in: try unkeyed.superDecoder().singleValueContainer(), debugDescription: "single")
        }
    }

    @Test("Errors that types make with the help of a container")
    func corrupted() {
        expectSameAsFoundation(Notes<Corrupted>.self, #"{"list":[1,2]}"#)
        expectSameAsFoundation(Lenient<Notes<Corrupted>>.self, #"[{"list":[1,2]},{"list":[]}]"#)
    }
}
