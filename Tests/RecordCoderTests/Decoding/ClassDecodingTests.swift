import Foundation
import Testing

@Suite struct ClassDecodingTests {

    class Animal: Decodable {
        var name: String
        var legs: Int?

        enum CodingKeys: String, CodingKey { case name, legs }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            legs = try container.decodeIfPresent(Int.self, forKey: .legs)
        }
    }

    /// Keeps its own members in the same object as its superclass's, and reads them first.
    final class Dog: Animal {
        var tricks: [String]

        enum CodingKeys: String, CodingKey { case tricks }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: decoder)
        }
    }

    /// Keeps its superclass's members in an object of their own.
    final class Cat: Animal {
        var lives: Int

        enum CodingKeys: String, CodingKey { case lives }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            lives = try container.decode(Int.self, forKey: .lives)
            try super.init(from: container.superDecoder())
        }
    }

    /// Keeps its superclass's members under a name that it chooses.
    final class Bird: Animal {
        var span: Double

        enum CodingKeys: String, CodingKey { case span, base }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            span = try container.decode(Double.self, forKey: .span)
            try super.init(from: container.superDecoder(forKey: .base))
        }
    }

    /// Is an array of which its superclass is an element.
    final class Fish: Animal {
        var depths: [Int]

        required init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            depths = [try container.decode(Int.self)]
            let base = try container.superDecoder()
            while !container.isAtEnd { depths.append(try container.decode(Int.self)) }
            try super.init(from: base)
        }
    }

    @Test(
        "A subclass shares, nests or follows its superclass's members",
        arguments: [
            #"{"name":"n","legs":4,"tricks":["sit"]}"#, #"{"tricks":["sit"],"name":"n"}"#,
            #"{"lives":9,"super":{"name":"n","legs":4}}"#, #"{"super":{"legs":null,"name":"n"},"lives":9}"#,
            #"{"span":1.5,"base":{"name":"n"}}"#, #"[1,{"name":"n"},2,3]"#, #"{"lives":9}"#,
            #"{"lives":9,"super":null}"#, #"{"lives":9,"super":[]}"#, #"{"lives":9,"super":{}}"#,
            #"{"lives":9,"super":{"name":1}}"#,
            #"{"span":1.5}"#, #"{"span":1.5,"base":{"name":null}}"#, #"{"tricks":["sit"]}"#,
            #"{"name":"n","tricks":[1]}"#, "[1]", "[1,2]", "[1,null]", #"[1,{"name":2}]"#,
            #"{"lives":9,"\u0073uper":{"name":"n"}}"#,
        ])
    func hierarchies(json: String) {
        expectSameAsFoundation(Animal.self, json)
        expectSameAsFoundation(Dog.self, json)
        expectSameAsFoundation(Cat.self, json)
        expectSameAsFoundation(Bird.self, json)
        expectSameAsFoundation(Fish.self, json)
        expectSameAsFoundation([Cat].self, "[\(json),\(json)]")
        expectSameAsFoundation([String: Dog].self, "{\"é\":\(json)}")
    }

    @Test("Each hierarchy is decoded by some document")
    func accepted() {
        #expect(expectSameAsFoundation(Dog.self, #"{"name":"n","legs":4,"tricks":["sit"]}"#)?.legs == 4)
        #expect(expectSameAsFoundation(Cat.self, #"{"lives":9,"super":{"name":"n","legs":4}}"#)?.name == "n")
        #expect(expectSameAsFoundation(Bird.self, #"{"span":1.5,"base":{"name":"n"}}"#)?.name == "n")
        #expect(expectSameAsFoundation(Fish.self, #"[1,{"name":"n"},2,3]"#)?.depths == [1, 2, 3])
    }
}
