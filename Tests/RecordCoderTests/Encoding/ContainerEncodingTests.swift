import Foundation
import RecordCoder
import Testing

@Suite struct ContainerEncodingTests {

    @Test("A value at the top level need not be an object or array")
    func fragments() throws {
        try expectRoundTrip("text")
        try expectRoundTrip(1)
        try expectRoundTrip(true)
        try expectRoundTrip(Optional<Int>.none)
        try expectRoundTrip(Optional<Int>(7))
        try expectRoundTrip([Int]())
        try expectRoundTrip([String: Int]())
    }

    @Test("Keys come in the order of their declaration, and missing values are omitted")
    func order() {
        #expect(expectSameEncoding(Person(name: "A", age: 3, email: nil, home: nil)) == #"{"name":"A","age":3}"#)
        let home = Person.Home(city: "B", rooms: [1, 2])
        let person = Person(name: "A", age: nil, email: "x", home: home)
        #expect(expectSameEncoding(person) == #"{"name":"A","email":"x","home":{"city":"B","rooms":[1,2]}}"#)
    }

    @Test("Records of one type with different members follow one another")
    func changingMembers() {
        for number in 0..<32 {
            let home = number & 8 == 0 ? nil : Person.Home(city: "c", rooms: [])
            let person = Person(
                name: "n", age: number & 1 == 0 ? nil : 1, email: number & 2 == 0 ? nil : "e", home: home)
            expectSameEncoding([person, person])
        }
    }

    @Test("Optionals may be nested and in collections")
    func optionals() throws {
        try expectRoundTrip([1, nil, 3])
        try expectRoundTrip(["a": 1, "b": nil])
        expectSameEncoding([Int??.some(.some(1)), .some(.none), .none])
        expectSameEncoding(["a": [nil, [1, nil]] as [[Int?]?]])
    }

    @Test("A value that writes nothing is an empty object, but an error at the top level")
    func nothing() {
        expectSameEncoding(Nothing())
        expectSameEncoding([Nothing(), Nothing()])
        expectSameEncoding(["a": Nothing()])
        expectSameEncoding([Nothing?.some(Nothing())])
        expectSameEncoding(Nothing?.some(Nothing()))
        expectSameEncoding(
            Custom {
                var container = $0.singleValueContainer(); try container.encode(Nothing())
            })
        expectSameEncoding(Custom { _ = $0.singleValueContainer() })
        expectSameEncoding(Custom { _ = $0.unkeyedContainer() })
        expectSameEncoding(Custom { _ = $0.container(keyedBy: Letter.self) })
        expectSameEncoding(
            Custom { encoder in
                var container = encoder.container(keyedBy: Letter.self)
                try container.encode(Nothing(), forKey: .a)
                _ = container.nestedContainer(keyedBy: Letter.self, forKey: .b)
                _ = container.nestedUnkeyedContainer(forKey: .c)
            }
        )
    }

    @Test("Dictionaries are objects or lists of keys and values, as in Foundation")
    func dictionaries() throws {
        try expectRoundTrip(["a": 1, "b": 2])
        try expectRoundTrip(["a": ["b": ["c": [1.5]]]])
        try expectRoundTrip([1: "x", -2: "y"])
        try expectRoundTrip([1.5: "x"])
        try expectRoundTrip([Suit.hearts: 1])
        try expectRoundTrip([Plain.one: 1])
        try expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) }))
        try expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, ["\($0)": [$0]]) }))
    }

    @Test("Enums with associated values and raw values survive")
    func enums() throws {
        try expectRoundTrip([
            Shape.point, .circle(radius: 1), .box(1, height: nil), .group([.point, .circle(radius: 2)]),
        ])
        try expectRoundTrip([Suit.hearts, .spades])
        try expectRoundTrip([Plain.one, .two])
    }

    @Test("A class and its superclass write to one object")
    func inheritance() throws {
        #expect(expectSameEncoding(Dog(name: "Rex", legs: 4)) == #"{"legs":4,"name":"Rex"}"#)
        expectSameEncoding([Dog(name: "Rex", legs: 4), Dog(name: "Max", legs: 3)])
        expectSameEncoding([Puppy(name: "Rex", legs: 4), Dog(name: "Max", legs: 3)])
        expectSameEncoding([Dog(name: "Rex", legs: 4), Animal(legs: 1)])
    }

    @Test("A class can write its superclass's part under a key")
    func superEncoders() {
        #expect(expectSameEncoding(Cat(name: "Tom", legs: 4)) == #"{"name":"Tom","super":{"legs":4}}"#)
        expectSameEncoding([Cat(name: "Tom", legs: 4), Cat(name: "Tim", legs: 3)])
        expectSameEncoding(
            Custom { encoder in
                var container = encoder.container(keyedBy: Letter.self)
                try Animal(legs: 2).encode(to: container.superEncoder(forKey: .b))
                try container.encode(1, forKey: .c)
                try 7.encode(to: container.superEncoder(forKey: .a))
                try container.encode(1, forKey: .super)
            }
        )
    }

    @Test("Nested containers of all kinds write their values, one after another")
    func nested() {
        expectSameEncoding(
            Custom { encoder in
                var object = encoder.container(keyedBy: Letter.self)
                var inner = object.nestedContainer(keyedBy: AnyKey.self, forKey: .a)
                try inner.encode(1, forKey: "x")
                var list = inner.nestedUnkeyedContainer(forKey: "y")
                try list.encode(["z"])
                #expect(list.count == 1)
                var members = list.nestedContainer(keyedBy: Letter.self)
                try members.encodeNil(forKey: .a)
                try members.encodeIfPresent(nil as Int?, forKey: .b)
                try members.encodeIfPresent(2, forKey: .b)
                var deeper = list.nestedUnkeyedContainer()
                #expect(list.count == 3)
                try deeper.encode(contentsOf: [1, 2, 3])
                try list.encode("last")
                try inner.encode(true, forKey: "w")
                try object.encode("end", forKey: .c)
            }
        )
    }

    @Test("A container that is requested again continues after the first one")
    func sameContainer() {
        expectSameEncoding(
            Custom { encoder in
                var first = encoder.container(keyedBy: Letter.self)
                try first.encode(1, forKey: .a)
                var second = encoder.container(keyedBy: AnyKey.self)
                try second.encode(2, forKey: "x")
                try first.encode(3, forKey: .b)
            }
        )
        expectSameEncoding(
            Custom { encoder in
                var first = encoder.unkeyedContainer()
                try first.encode(1)
                var second = encoder.unkeyedContainer()
                try second.encode(2)
                #expect(first.count == 2)
                try first.encode(3)
            }
        )
    }

    @Test("A value can pass its encoder on")
    func passing() {
        expectSameEncoding([Custom { try Person(name: "A", age: 1, email: nil, home: nil).encode(to: $0) }])
        expectSameEncoding([Custom { try [1, 2].encode(to: $0) }])
        expectSameEncoding([Custom { try "x".encode(to: $0) }])
        expectSameEncoding([Custom { try ["k": 1].encode(to: $0) }])
        expectSameEncoding([Custom { try (1 as Int?).encode(to: $0) }])
        expectSameEncoding(
            [
                Custom { encoder in
                    var container = encoder.singleValueContainer(); try container.encode(["k": [1]])
                }
            ])
    }

    @Test("The user info reaches all values")
    func userInfo() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "key"))
        let value = Custom { encoder in
            var container = encoder.singleValueContainer()
            try container.encode(encoder.userInfo[key] as? String)
        }
        #expect(expectSameEncoding([value], userInfo: [key: "x"]) == #"["x"]"#)
        #expect(expectSameEncoding([value]) == "[null]")
    }
}

private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) {}
}

private struct Person: Codable, Equatable {
    struct Home: Codable, Equatable {
        var city: String
        var rooms: [Int]
    }

    var name: String
    var age: Int?
    var email: String?
    var home: Home?
}

private enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case box(Int, height: Int?)
    indirect case group([Shape])
}

private enum Suit: String, Codable, CodingKeyRepresentable {
    case hearts, spades
}

private enum Plain: Int, Codable {
    case one = 1, two
}

private class Animal: Encodable {
    var legs: Int

    init(legs: Int) {
        self.legs = legs
    }

    private enum CodingKeys: CodingKey {
        case legs
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(legs, forKey: .legs)
    }
}

private class Dog: Animal {
    var name: String

    init(name: String, legs: Int) {
        self.name = name
        super.init(legs: legs)
    }

    private enum CodingKeys: CodingKey {
        case name
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
    }
}

private final class Puppy: Dog {
    private enum CodingKeys: CodingKey {
        case age
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: encoder)
        try container.encode(1, forKey: .age)
    }
}

private final class Cat: Animal {
    var name: String

    init(name: String, legs: Int) {
        self.name = name
        super.init(legs: legs)
    }

    private enum CodingKeys: CodingKey {
        case name
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try super.encode(to: container.superEncoder())
    }
}
