#if CommandLineTool
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import BodegaCommands

@Suite("Regular expressions of RFC 9485")
struct PatternTests {

    @Test(
        "match whole texts",
        arguments: [
            ("", "", true), ("", "a", false), ("a", "a", true), ("a", "aa", false), ("a*", "", true), ("a+", "", false),
            ("a?b", "b", true), ("a?b", "aab", false), ("(ab|c)*", "abcab", true), ("a|b|", "", true), ("()", "", true),
            ("a{2}", "aa", true), ("a{2}", "aaa", false), ("a{2,}", "aaaa", true), ("a{2,}", "a", false),
            ("a{0}", "", true), ("a{1,3}", "aaa", true), ("a{1,3}", "aaaa", false), ("(a*)*b", "aaab", true),
            // No anchors, and the end of a line is no character of the dot.
            ("^a$", "a", false), ("^a$", "^a$", true), ("$|^", "^", true), (".", "\n", false), (".", "\r", false),
            (".", "\u{85}", true), (".", "\u{2028}", true), (".", "😀", true), (".", "\r\n", false),
            (".", "e\u{301}", false),
            ("é", "e\u{301}", false), (".*", "a\nb", false), ("[^a]", "\n", true), ("a.c", "a\0c", true),
            ("[a-c]", "b", true), ("[a-c]", "d", false), ("[^a-c]", "d", true), ("[-a]", "-", true),
            ("[a-]", "-", true),
            ("[--]", "-", true), (#"[a\-z]"#, "-", true), (#"[\]\[\^]"#, "^", true), ("[a^]", "^", true),
            ("[.$*]", "$", true),
            (#"\.\*\(\)\{\}\|\\\?\+\-\[\]\^"#, #".*(){}|\?+-[]^"#, true), (#"\n\r\t"#, "\n\r\t", true),
            (#"[\n-\r]"#, "\r", true),
            (#"\p{L}+"#, "aÉß漢", true), (#"\p{Lu}"#, "a", false), (#"\P{Lu}"#, "a", true),
            (#"[\p{Nd}x]+"#, "1٣x", true),
            (#"[^\p{Nd}]"#, "٣", false), (#"[\P{L}a]"#, "a", true), (#"\p{Cn}"#, "\u{378}", true),
            (#"\p{Zs}"#, "\u{A0}", true),
            ("#,&~\"'<>=!@:;/ ", "#,&~\"'<>=!@:;/ ", true), ("😀+", "😀😀", true),
        ])
    func whole(_ pattern: String, text: String, isMatch: Bool) throws {
        #expect(try JSONPattern(pattern, isWhole: true).matches(text) == isMatch)
    }

    @Test(
        "find parts of texts",
        arguments: [
            ("", "", true), ("b", "abc", true), ("d", "abc", false), ("b+c", "abbbc", true), ("^a", "a", false),
            ("c$", "abc", false), ("a.b", "a\nb", false), ("(a|b)c{2}", "xxbccx", true), ("ab", "aab", true),
            ("a{3}", "aabaa", false), ("a{3}", "aabaaa", true),
        ])
    func part(_ pattern: String, text: String, isMatch: Bool) throws {
        #expect(try JSONPattern(pattern, isWhole: false).matches(text) == isMatch)
    }

    @Test(
        "are refused with a reason if RFC 9485 does not define them, or if they are too large",
        arguments: [
            "(", ")", "a)", "(a", "[", "]", "[]", "[^]", "[a", "[b-a]", "[a-c-e]", "[a--]", "[--a]", "[[]", "{", "}",
            "a{", "a{}",
            "a{,2}", "a{2,1}", "a{1", "a{1}{2}", "a**", "a+?", "*", "+a", "?", "|*", #"\"#, #"\d"#, #"\w"#, #"\s"#,
            #"\b"#, #"\1"#,
            #"\/"#, #"\$"#, #"\p"#, #"\p{}"#, #"\p{X}"#, #"\p{Cs}"#, #"\p{Latin}"#, #"\p{lu}"#, #"\p{L"#, #"[\d]"#,
            #"[a-\p{L}]"#,
            "(?i)a", "(?:a)", "a{1000}{1000}", "(a{1000}){1000}", "((a{99}){99}){99}", "a{99999999999999999999}",
            "(){100000}",
            "(()*){99999}", "((((a*){0,99}){0,99}){0,99}){0,99}",
            "a{2000}", "(a{0,50}){50}", "([aceg]{20}){30}", PatternTests.set(of: 2000),
            String(repeating: "(", count: 5000) + String(repeating: ")", count: 5000),
        ])
    func mistakes(_ pattern: String) {
        #expect(throws: JSONPattern.Mistake.self) { try JSONPattern(pattern, isWhole: true) }
        let condition = "search(@.a, '\(pattern.replacingOccurrences(of: "\\", with: "\\\\"))')"
        #expect { try JSONFilterParser.parse(condition) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .invalidArgument && error.message.contains(" >>> ")
        }
    }

    /// A set of as many characters, none beside another.
    private static func set(of count: UInt32) -> String {
        let scalars = (0..<count).compactMap { Unicode.Scalar(0x4E00 + 2 * $0) }
        return "[\(String(String.UnicodeScalarView(scalars.reversed())))]"
    }

    @Test("find characters in large sets")
    func largeSet() throws {
        let set = Self.set(of: 1500)
        let (pattern, negated) = (
            try JSONPattern(set, isWhole: true),
            try JSONPattern(set.replacingOccurrences(of: "[", with: "[^"), isWhole: true)
        )
        for value in UInt32(0x4DFF)...0x4E00 + 3001 {
            let scalar = try #require(Unicode.Scalar(value))
            let isMember = value.isMultiple(of: 2) && (0x4E00..<0x4E00 + 3000).contains(value)
            #expect(pattern.matches("\(scalar)") == isMember)
            #expect(negated.matches("\(scalar)") == !isMember)
        }
        #expect(try JSONPattern("[b-da-cx-zq]{2}", isWhole: true).matches("dq"))
        #expect(try !JSONPattern("[b-da-cx-zq]", isWhole: true).matches("e"))
        // Parentheses do not increase the size of a part.
        #expect(try JSONPattern("(((a))){990}", isWhole: true).matches(String(repeating: "a", count: 990)))
    }

    /// With a backtracking engine, each of these takes exponential time.
    @Test(
        "take linear time",
        arguments: ["(a+)+$", "(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(a{0,30}){30}b"])
    func linearTime(pattern: String) throws {
        let text = String(repeating: "a", count: 300)
        #expect(try !JSONPattern(pattern, isWhole: true).matches(text))
        #expect(try !JSONPattern(pattern, isWhole: false).matches(text))
    }

    @Test("mean what they mean elsewhere, where both mean the same")
    func oracle() throws {
        var generator = SeededGenerator(seed: Seed.current)
        for _ in 0..<3000 {
            let pattern = Self.pattern(3, &generator)
            let oracle = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
            let search = try NSRegularExpression(pattern: pattern)
            let whole = try JSONPattern(pattern, isWhole: true)
            let part = try JSONPattern(pattern, isWhole: false)
            for _ in 0..<5 {
                let length = Int.random(in: 0...7, using: &generator)
                let text = String((0..<length).map { _ in "abcé".randomElement(using: &generator) ?? "a" })
                let range = NSRange(text.startIndex..., in: text)
                let note: Comment = "\(pattern) on \(text), seed \(Seed.current)"
                #expect(whole.matches(text) == (oracle.firstMatch(in: text, range: range) != nil), note)
                #expect(part.matches(text) == (search.firstMatch(in: text, range: range) != nil), note)
            }
        }
    }

    private static func pattern(_ depth: Int, _ generator: inout SeededGenerator) -> String {
        let atom =
            switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
            case 0: "."
            case 1: "[a-b]"
            case 2: "[^ac]"
            case 3: #"\p{Ll}"#
            case 4: "é"
            case 5: "b"
            case 6: "(" + pattern(depth - 1, &generator) + "|" + pattern(depth - 1, &generator) + ")"
            case 7: "(" + pattern(depth - 1, &generator) + ")"
            default: pattern(depth - 1, &generator) + pattern(depth - 1, &generator)
            }
        guard
            atom.count == 1 || atom.hasPrefix("[") && atom.hasSuffix("]") && !atom.dropFirst().contains("[")
                || atom.hasPrefix("\\") && atom.count == 6
        else { return atom }
        return atom + (["", "", "*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"].randomElement(using: &generator) ?? "")
    }
}

@Suite("Numbers in JSON")
struct NumberTests {

    @Test(
        "are compared exactly",
        arguments: [
            ("9007199254740993", ">", "9007199254740992"), ("9007199254740993", "==", "9007199254740993.0"),
            ("18446744073709551615", "<", "18446744073709551616"), ("-9007199254740993", "<", "-9007199254740992"),
            ("1", "==", "1.000"), ("1", "==", "10e-1"), ("0.1", "==", "1E-1"), ("100", "==", "1e+2"), ("0", "==", "-0"),
            ("0e99999999999999999999", "==", "0.000"), ("-0.0", "==", "0e5"), ("1e400", "<", "1e401"),
            ("-1e400", ">", "-1e401"),
            ("1e-400", ">", "0"), ("0.1", "<", "0.10000000000000000000001"), ("123", "<", "1230"),
            ("0.001", "<", "0.01"),
            ("-1", "<", "0"), ("-2", "<", "-1"), ("9", "<", "10"), ("-10", "<", "-9"),
            ("1e99999999999999999999", ">", "1e5"),
        ])
    func comparison(_ left: String, _ sign: String, _ right: String) {
        let (first, second) = (JSONNumber(left.utf8), JSONNumber(right.utf8))
        #expect((first == second) == (sign == "=="))
        #expect((first < second) == (sign == "<"))
        #expect((first > second) == (sign == ">"))
    }

    @Test("are compared like machine numbers, where these are exact")
    func oracle() {
        var generator = SeededGenerator(seed: Seed.current)
        for _ in 0..<5000 {
            let (left, right) = (
                Int.random(in: -2000...2000, using: &generator), Int.random(in: -2000...2000, using: &generator)
            )
            let (a, b) = (Double(left) / 8, Double(right) / 8)
            #expect((JSONNumber("\(a)".utf8) < JSONNumber("\(b)".utf8)) == (a < b), "\(a) \(b)")
            #expect((JSONNumber("\(a)".utf8) == JSONNumber("\(b)".utf8)) == (a == b), "\(a) \(b)")
            #expect(JSONNumber(left) == JSONNumber("\(Double(left))".utf8))
        }
    }

    @Test("query and its sort order distinguish long numbers")
    func query() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = #"{"id":"b","n":9007199254740993}"# + "\n" + #"{"id":"a","n":9007199254740992}"#
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            let found = await bodega("query", store, "--where", "@.n == 9007199254740993", "--select", "id")
            #expect(found.text == "b\tb\n")
            #expect(await bodega("query", store, "--sort", "n", "--select", "id").text == "a\ta\nb\tb\n")
        }
    }
}
#endif
