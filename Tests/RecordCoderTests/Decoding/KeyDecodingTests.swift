import Foundation
import RecordCoderFuzz
import Testing

@Suite struct KeyDecodingTests {

    /// A key for any member.
    struct Name: CodingKey, Hashable {
        var stringValue: String
        var intValue: Int?

        init(_ name: String, _ number: Int? = nil) {
            stringValue = name
            intValue = number
        }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { self.init("\(intValue)", intValue) }
    }

    /// Decodes members by names that the test sets.
    struct Lookup: Decodable {
        static let names = CodingUserInfoKey(rawValue: "names").unsafelyUnwrapped
        var contained: [Bool] = []
        var found: [String: Int?] = [:]
        var keys: [[UInt8]] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in decoder.userInfo[Self.names] as? [String] ?? [] {
                contained.append(container.contains(Name(name)))
                found["\(name.utf8.map { $0 })"] = try container.decodeIfPresent(Int.self, forKey: Name(name))
            }
            keys = container.allKeys.map { Array($0.stringValue.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    private func expectSame(_ json: String, names: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        for names in [names, names.reversed()] {
            let found = expectSameAsFoundation(
                Lookup.self, json, userInfo: [Lookup.names: names], sourceLocation: sourceLocation)
            #expect(found != nil, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "Of several members with the same name, the same one wins as in Foundation",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"a":1}"#, #"{"a":1,"b":3,"a":2}"#, #"{"b":3,"a":1,"a":2}"#,
            #"{"a":null,"a":2}"#, #"{"a":1,"a":null}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#,
            #"{"a":1,"a":2,"a":3,"a":4,"a":5,"b":6,"b":7}"#, #"{"a":1,"c":{"a":5},"a":2}"#,
        ])
    func duplicates(json: String) {
        expectSame(json, names: ["a", "b"])
        expectSameAsFoundation([String: Int?].self, json)
        expectSameAsFoundation([String: Int].self, json)
    }

    @Test(
        "A duplicate of another type matters only if it wins",
        arguments: [#"{"a":1,"a":"x"}"#, #"{"a":"x","a":1}"#, #"{"a":1,"a":[1,2,{}]}"#, #"{"a":{"a":2},"a":1}"#])
    func duplicatesOfOtherTypes(json: String) {
        expectSameAsFoundation([String: Int].self, json)
        expectSameAsFoundation(Lookup.self, json, userInfo: [Lookup.names: ["a"]])
    }

    @Test("A duplicate that can't be decoded is ignored, even where an error would be caught")
    func undecodableDuplicates() {
        // Found by the fuzzer: a type that catches this error and tries another type would get another value.
        expectSameAsFoundation(JSONValue.self, #"[{"a":1,"a":{"b":1e400}}]"#)
        expectSameAsFoundation(
            CaughtErrorDecodingTests.Lenient<[String: Int]>.self, #"[{"a":1,"a":"x"},{"a":"x","a":1}]"#)
    }

    @Test("Duplicates among many members")
    func duplicatesAmongMany() {
        let members = (0..<200).map { "\"key\($0 % 70)\":\($0)" }
        expectSame("{\(members.joined(separator: ","))}", names: (0..<75).map { "key\($0)" })
        expectSameAsFoundation([String: Int].self, "{\(members.joined(separator: ","))}")
    }

    @Test(
        "Names are compared as strings: by canonical equivalence",
        arguments: [
            "{\"\u{E9}\":1}", "{\"e\u{301}\":1}", "{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"e\u{301}\":1,\"\u{E9}\":2}",
            #"{"\u00e9":1,"e\u0301":2}"#, #"{"\u00e9":1}"#, #"{"e\u0301":1}"#,
            "{\"\u{212A}\":1}", "{\"K\":1}", "{\"K\":1,\"\u{212A}\":2}", "{\"\u{212A}\":1,\"K\":2}", #"{"\u212a":1}"#,
            "{\"\u{212B}\":1,\"\u{C5}\":2,\"A\u{30A}\":3}", "{\"\u{1100}\u{1161}\":1,\"\u{AC00}\":2}",
            "{\"e\":1,\"\u{301}\":2}",
            "{\"\u{387}\":1}", "{\"\u{B7}\":1}", "{\"\u{37E}\":1}", "{\";\":1}", "{\"\u{1FEF}\":1}", "{\"`\":1}",
            "{\"q\u{323}\u{307}\":1,\"q\u{307}\u{323}\":2}",
        ])
    func canonicalEquivalence(json: String) {
        let names = [
            "\u{E9}", "e\u{301}", "e", "\u{301}", "K", "\u{212A}", "k", "\u{212B}", "\u{C5}", "A\u{30A}",
            "\u{1100}\u{1161}", "\u{AC00}", "\u{387}", "\u{B7}", "\u{37E}", ";", "\u{1FEF}", "`", "q\u{323}\u{307}",
            "q\u{307}\u{323}",
        ]
        expectSame(json, names: names)
        expectSameAsFoundation([String: Int].self, json)
    }

    @Test(
        "Escaped names are found",
        arguments: [
            #"{"\u0061":1}"#, #"{"\u0061\u0062\u0063":1}"#, #"{"a\/b":1}"#, #"{"a/b":1}"#, #"{"\n":1}"#, #"{"\"":1}"#,
            #"{"\\":1}"#, #"{"\ud83d\ude00":1}"#, "{\"😀\":1}", #"{"":1}"#, #"{"\u0000":1}"#, #"{"a\u0000":1,"a":2}"#,
            #"{"\u0061bc":1,"abc":2}"#,
        ])
    func escapes(json: String) {
        expectSame(
            json, names: ["a", "abc", "ab", "a/b", "\n", "\"", "\\", "😀", "", "\u{0}", "a\u{0}", "n", "\\n", "u0061"])
    }

    @Test("Names with a common prefix or the same length are distinguished")
    func similar() {
        let names = [
            "a", "aa", "aaa", "aaaaaaaa", "aaaaaaab", "aaaaaaaaa", "aaaaaaaab", "baaaaaaa", "aaaaaaaaaaaaaaaa",
            "aaaaaaaaaaaaaaab", "A", "ab", "ba", "",
        ]
        for count in names.indices {
            let members = names[...count].enumerated().map { "\"\($1)\":\($0)" }
            expectSame("{\(members.joined(separator: ","))}", names: names)
            expectSame("{\(members.reversed().joined(separator: ","))}", names: names)
        }
    }

    @Test("Names with the same 32-bit sum, prefix and suffix are distinguished")
    func colliding() {
        // FNV-1a and multiplicative sums of such names often agree in some bits.
        let names = (0..<400).map { "member-\($0 * 7919 % 400)-of-a-long-common-name" }
        let members = names.enumerated().map { "\"\($1)\":\($0)" }
        expectSame("{\(members.joined(separator: ","))}", names: names + names.map { $0 + "x" })
    }

    @Test("The number of a key doesn't matter, only its name")
    func numbers() {
        expectSameAsFoundation([Int: String].self, #"{"1":"a","2":"b"}"#)
        struct Numbered: Decodable {
            var values: [Int?]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                values = [
                    try container.decodeIfPresent(Int.self, forKey: Name("x", 1)),
                    try container.decodeIfPresent(Int.self, forKey: Name("1", 7)),
                ]
            }
        }
        #expect(expectSameAsFoundation(Numbered.self, #"{"1":10,"x":20,"7":30}"#) != nil)
    }

    /// Decodes ten thousand members, in the order of the document or in reverse.
    struct Reader: Decodable {
        static let backwards = CodingUserInfoKey(rawValue: "backwards").unsafelyUnwrapped
        var sum = 0
        var missing = 0

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            let names = (0..<10_000).map { Name("member \($0)") }
            for name in decoder.userInfo[Self.backwards] as? Bool == true ? names.reversed() : names {
                sum += try container.decode(Int.self, forKey: name)
                if !container.contains(Name(name.stringValue + "x")) { missing += 1 }
            }
        }
    }

    @Test(
        "Ten thousand members are found in reverse, and missing ones are not, in a hundred documents",
        arguments: [false, true])
    func manyMembers(backwards: Bool) throws {
        // In quadratic time this would take 2·10¹⁰ steps, and the test would time out.
        let json = Data("{\((0..<10_000).map { "\"member \($0)\":\($0)" }.joined(separator: ","))}".utf8)
        let value = expectSameAsFoundation(Reader.self, json, userInfo: [Reader.backwards: backwards])
        #expect(value?.sum == 49_995_000)
        #expect(value?.missing == 10_000)
    }

    @Test("Ten thousand members with the same name, and with canonically equivalent names")
    func manyDuplicates() {
        let same = (0..<10_000).map { "\"a\":\($0)" }.joined(separator: ",")
        expectSameAsFoundation([String: Int].self, "{\(same)}")
        expectSameAsFoundation(Lookup.self, "{\(same)}", userInfo: [Lookup.names: ["a", "b"]])
        let equivalent = (0..<10_000).map { "\"\($0.isMultiple(of: 2) ? "\u{E9}" : "e\u{301}")\":\($0)" }.joined(
            separator: ",")
        expectSameAsFoundation(Lookup.self, "{\(equivalent)}", userInfo: [Lookup.names: ["\u{E9}", "b"]])
    }
}
