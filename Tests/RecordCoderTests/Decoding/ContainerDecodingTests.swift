import Foundation
import RecordCoderFuzz
import Testing

/// A key for any member.
private typealias Name = KeyDecodingTests.Name

/// Decodes with a closure that records its observations, so that a test is one function.
///
/// A closure cannot be sent with `userInfo`, so the function is a static member of a type.
protocol Procedure {
    static func run(_ decoder: any Decoder, _ notes: inout [String]) throws
}

struct Notes<Steps: Procedure>: Decodable {
    var notes: [String] = []

    init(from decoder: any Decoder) throws {
        try Steps.run(decoder, &notes)
    }
}

extension [String] {
    /// Records the result of an attempt, including errors.
    mutating func note<Value>(_ attempt: () throws -> Value) {
        append(exactDescription(of: Result { try attempt() }, withKeyTypes: false))
    }
}

@Suite struct ContainerDecodingTests {

    enum OtherOrder: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in ["d", "a", "c", "b", "a", "d", "a"] {
                notes.note { try container.decode(Int.self, forKey: Name(name)) }
            }
            let again = try decoder.container(keyedBy: Name.self)
            for name in ["a", "b", "c", "d"] { notes.note { try again.decode(Double.self, forKey: Name(name)) } }
        }
    }

    @Test("Members can be decoded in any order and repeatedly, through several containers")
    func order() {
        #expect(expectSameAsFoundation(Notes<OtherOrder>.self, #"{"a":1,"b":2,"c":3,"d":4}"#) != nil)
        #expect(
            expectSameAsFoundation([Notes<OtherOrder>].self, #"[{"a":1,"b":2,"c":3,"d":4},{"d":4,"c":3,"b":2,"a":1}]"#)
                != nil)
    }

    enum Presence: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in ["a", "b", "c", "missing", "a"] {
                let key = Name(name)
                notes.note { container.contains(key) }
                notes.note { try container.decodeNil(forKey: key) }
                notes.note { try container.decodeIfPresent(Int.self, forKey: key) }
                notes.note { try container.decodeIfPresent(String.self, forKey: key) }
                notes.note { try container.decodeIfPresent(Bool.self, forKey: key) }
                notes.note { try container.decodeIfPresent([Int].self, forKey: key) }
                notes.note { try container.decode(Int?.self, forKey: key) }
                notes.note { try container.decodeNil(forKey: key) }
                notes.note { container.contains(key) }
            }
            notes.note { container.allKeys.map(\.stringValue).sorted() }
        }
    }

    @Test(
        "Checking whether a member is present or null has no side effect",
        arguments: [#"{"a":1,"b":null,"c":[1]}"#, #"{"c":"x","b":false}"#, "{}", #"{"a":null}"#])
    func presence(json: String) {
        #expect(expectSameAsFoundation(Notes<Presence>.self, json) != nil)
    }

    enum Unkeyed: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            var container = try decoder.unkeyedContainer()
            notes.note { container.count }
            while !container.isAtEnd {
                notes.note { container.currentIndex }
                notes.note { try container.decodeNil() }
                notes.note { try container.decodeIfPresent(Int.self) }
                notes.note { try container.decode(String.self) }
                notes.note { try container.decode(Bool.self) }
                notes.note { exactDescription(ofPath: container.codingPath) }
                notes.note { try container.superDecoder().singleValueContainer().decode(JSONValue.self) }
                notes.note { container.currentIndex }
            }
            // Past the end.
            for _ in 0..<2 {
                notes.note { container.isAtEnd }
                notes.note { container.currentIndex }
                notes.note { try container.decode(Int.self) }
                notes.note { try container.decodeIfPresent(Int.self) }
                notes.note { try container.decodeIfPresent([String].self) }
                notes.note { try container.decodeNil() }
                notes.note { try container.decode(JSONValue.self) }
                notes.note { try container.nestedUnkeyedContainer().count }
                notes.note { try container.nestedContainer(keyedBy: Name.self).allKeys }
                notes.note { try container.superDecoder().codingPath.map(\.stringValue) }
            }
            var again = try decoder.unkeyedContainer()
            notes.note { again.currentIndex }
            notes.note { try again.decode(JSONValue.self) }
            notes.note { container.currentIndex }
        }
    }

    @Test(
        "An unkeyed container counts, keeps its position after an error, and ends",
        arguments: [
            "[]", "[1]", "[null]", #"[1,"two",null,true,[1,2],{"a":1},2.5]"#, #"[{},[],[[]],"",0]"#, "{}", "1", "null",
        ])
    func unkeyed(json: String) {
        expectSameAsFoundation(Notes<Unkeyed>.self, json)
        expectSameAsFoundation([String: Notes<Unkeyed>].self, "{\"key\":\(json)}")
    }

    enum Interleaved: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            let top = try decoder.container(keyedBy: Name.self)
            let a = try top.nestedContainer(keyedBy: Name.self, forKey: Name("a"))
            var b = try top.nestedUnkeyedContainer(forKey: Name("b"))
            var c = try top.nestedUnkeyedContainer(forKey: Name("b"))
            let inner = try a.nestedContainer(keyedBy: Name.self, forKey: Name("inner"))
            for index in 0..<3 {
                notes.note { try b.decode(Int.self) }
                notes.note { try a.decode(Int.self, forKey: Name("x\(index)")) }
                notes.note { try c.decode(Double.self) }
                notes.note { try inner.decode(String.self, forKey: Name("y\(2 - index)")) }
                notes.note { try top.decode(Int.self, forKey: Name("c")) }
                notes.note { b.currentIndex - c.currentIndex }
            }
            var list = try b.nestedUnkeyedContainer()
            let object = try b.nestedContainer(keyedBy: Name.self)
            notes.note { try object.decode(Int.self, forKey: Name("z")) }
            notes.note { try list.decode(Int.self) }
            notes.note { try list.nestedContainer(keyedBy: Name.self).allKeys.count }
            notes.note { try list.decode(Int.self) }
            notes.note { try b.decode(Int.self) }
            notes.note { try c.nestedContainer(keyedBy: Name.self).allKeys.count }
            notes.note {
                exactDescription(ofPath: object.codingPath) + exactDescription(ofPath: list.codingPath)
                    + exactDescription(ofPath: inner.codingPath)
            }
        }
    }

    @Test(
        "Nested containers can be read alternately",
        arguments: [
            #"{"a":{"x0":1,"x1":2,"x2":3,"inner":{"y0":"a","y1":"b","y2":"c"}},"b":[1,2,3,[4,5],{"z":6}],"c":7}"#,
            #"{"c":7,"b":[1,2,3,[4,{"q":1}],{"z":6},8],"a":{"inner":{"y2":"c","y1":"b","y0":"a"},"x2":3,"x1":2,"x0":1}}"#,
            #"{"c":7,"b":[1,2],"a":{"inner":{}}}"#, #"{"c":7,"b":[1,"2",3],"a":{"inner":null}}"#,
            #"{"c":7,"b":[1,"2",3,[],{}],"a":{"inner":{"y0":1}}}"#,
            #"{"c":7,"b":{},"a":{"inner":{"y0":1}}}"#, #"{"b":[]}"#, "[]",
        ])
    func interleaved(json: String) {
        expectSameAsFoundation(Notes<Interleaved>.self, json)
    }

    enum WrongKinds: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            notes.note { try decoder.container(keyedBy: Name.self).allKeys.count }
            notes.note { try decoder.unkeyedContainer().count }
            let single = try decoder.singleValueContainer()
            notes.note { single.decodeNil() }
            notes.note { try single.decode(Int.self) }
            notes.note { try single.decode(Int.self) }
            notes.note { try single.decode(String.self) }
            notes.note { try single.decode(Bool.self) }
            notes.note { try single.decode(Double.self) }
            notes.note { try single.decode([JSONValue].self) }
            notes.note { try single.decode([String: JSONValue].self) }
            notes.note { try single.decode(StructDecodingTests.Empty.self) }
            notes.note { try single.decode(URL.self) }
            notes.note { try single.decode(Date?.self) }
        }
    }

    @Test(
        "All kinds of containers of one decoder, of which only some match",
        arguments: ["{}", "[]", "1", "null", #""text""#, "true", "1.5", #"{"a":[1]}"#, "[1,2]"])
    func wrongKinds(json: String) {
        #expect(expectSameAsFoundation(Notes<WrongKinds>.self, json) != nil)
        expectSameAsFoundation([Notes<WrongKinds>].self, "[\(json),\(json)]")
        expectSameAsFoundation([String: Notes<WrongKinds>].self, #"{"k":\#(json)}"#)
    }

    enum NestedErrors: Procedure {
        static func run(_ decoder: any Decoder, _ notes: inout [String]) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in ["a", "b", "missing"] {
                notes.note { try container.nestedContainer(keyedBy: Name.self, forKey: Name(name)).allKeys.count }
                notes.note { try container.nestedUnkeyedContainer(forKey: Name(name)).count }
                notes.note {
                    try container.superDecoder(forKey: Name(name)).container(keyedBy: Name.self).allKeys.count
                }
                notes.note { try container.superDecoder(forKey: Name(name)).singleValueContainer().decode(Int.self) }
                notes.note { try container.superDecoder(forKey: Name(name)).singleValueContainer().decodeNil() }
            }
            notes.note { try container.superDecoder().singleValueContainer().decode(JSONValue.self) }
            notes.note { exactDescription(ofPath: try container.superDecoder().codingPath) }
        }
    }

    @Test(
        "Nested containers that are missing or of another kind",
        arguments: [#"{"a":{"x":1},"b":[1]}"#, #"{"a":null,"b":1,"super":{"y":2}}"#, #"{"super":null}"#, "{}"])
    func nestedErrors(json: String) {
        #expect(expectSameAsFoundation(Notes<NestedErrors>.self, json) != nil)
    }

    @Test(
        "Arrays, sets and contiguous arrays of everything",
        arguments: [
            "[]", "[1,2,3]", "[1,1,2]", "[null]", #"["a"]"#, "[[]]", "[[1],[2,3],[]]", "{}", "[1,2,3.5]", "[1,2,300]",
        ])
    func collections(json: String) {
        expectSameAsFoundation([Int].self, json)
        expectSameAsFoundation([UInt8].self, json)
        expectSameAsFoundation([Double].self, json)
        expectSameAsFoundation([String].self, json)
        expectSameAsFoundation([Bool].self, json)
        expectSameAsFoundation(Set<Int>.self, json)
        expectSameAsFoundation(Set<String>.self, json)
        expectSameAsFoundation(ContiguousArray<Int>.self, json)
        expectSameAsFoundation([[Int]].self, json)
        expectSameAsFoundation([Set<Int>].self, json)
        expectSameAsFoundation([Int?].self, json)
        expectSameAsFoundation([Date].self, json)
        expectSameAsFoundation([Decimal].self, json)
        expectSameAsFoundation(ClosedRange<Int>.self, json)
        expectSameAsFoundation(Range<Int>.self, json)
        expectSameAsFoundation(PartialRangeFrom<Int>.self, json)
        expectSameAsFoundation(CollectionDifference<Int>.self, json)
    }
}
