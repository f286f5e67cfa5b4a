import BodegaTesting
import TestSupport
import Testing

@testable import Bodega

@Suite("Expressions that users type")
struct SearchParserTests {
    private static let a = SearchExpression.phrase("a")
    private static let b = SearchExpression.phrase("b")
    private static let c = SearchExpression.phrase("c")

    @Test(
        "A text is an expression",
        arguments: [
            ("a", a), ("  a ", a), ("a b", .all([a, b])), ("a AND b", .all([a, b])), ("a OR b", .any([a, b])),
            ("a b OR c", .any([.all([a, b]), c])), ("a (b OR c)", .all([a, .any([b, c])])),
            ("a NOT b", .all([a, .not(b)])), ("a -b", .all([a, .not(b)])), ("-b", .not(b)), ("NOT NOT b", b),
            ("a -(b c)", .all([a, .not(.all([b, c]))])), ("a -\"b c\"", .all([a, .not(.phrase("b c"))])),
            ("\"a b\" c", .all([.phrase("a b"), c])), ("\"a \"\"b\"\"\"", .phrase("a \"b\"")),
            ("a*", .prefix("a")), ("\"a b\"*", .prefix("a b")), ("a* b", .all([.prefix("a"), b])),
            ("wi-fi", .phrase("wi-fi")), ("a - b", .all([a, .phrase("-"), b])), ("and", .phrase("and")),
            ("ANDY", .phrase("ANDY")), ("a\tb\u{3000}c", .all([a, b, c])), ("((a))", a), ("a\"b\"", .all([a, b])),
            ("(a)(b)", .all([a, b])), ("a AND NOT b", .all([a, .not(b)])), ("a OR NOT b", .any([a, .not(b)])),
        ] as [(String, SearchExpression)])
    func valid(text: String, expected: SearchExpression) throws {
        #expect(try SearchExpression(parsing: text) == expected)
        #expect(SearchExpression(text) == expected)
    }

    @Test(
        "A mistake has a place, and a search field ignores it",
        arguments: [
            ("\"a b", 1, .phrase("a b")), ("(a b", 1, .all([a, b])), ("a) b", 2, .all([a, b])), ("a OR", 5, a),
            ("OR a", 1, a), ("a AND", 6, a), ("AND a", 4, a), ("a NOT", 6, a),
            ("a (OR", 4, SearchExpression(.all([a.node, .all([])]))),
            ("", 1, .all([])), ("  ", 3, .all([])), ("()", 2, .all([])), ("a OR OR b", 6, .any([a, b])),
            ("a AND OR b", 7, .any([a, b])), ("a (b", 3, .all([a, b])), (")", 1, .all([])),
        ] as [(String, Int, SearchExpression)])
    func invalid(text: String, place: Int, lenient: SearchExpression) throws {
        #expect(SearchExpression(text) == lenient)
        let error = #expect(throws: StorageError.self) { try SearchExpression(parsing: text) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("at character \(place) ") == true, "\(error?.message ?? "")")
    }

    @Test("The last word may be unfinished")
    func completion() {
        func typed(_ text: String) -> SearchExpression { SearchExpression(text, completingLastWord: true) }
        #expect(typed("swi") == .prefix("swi"))
        #expect(typed("swift con") == .all([.phrase("swift"), .prefix("con")]))
        #expect(typed("swift ") == .phrase("swift"))
        #expect(typed("swift*") == .prefix("swift"))
        #expect(typed("\"swift con") == .prefix("swift con"))
        #expect(typed("\"swift con\"") == .phrase("swift con"))
        #expect(typed("a OR") == Self.a)
    }

    @Test("Deep parentheses are an error, not a crash")
    func depth() {
        let deep = String(repeating: "(", count: 100_000) + "a"
        #expect(throws: StorageError.self) { try SearchExpression(parsing: deep) }
        #expect(SearchPattern(SearchExpression(deep), .words).phrases.count == 1)
        let negated = String(repeating: "-", count: 100_000) + "a"
        #expect(SearchExpression(negated) == Self.a)
        let chain = SearchExpression(String(repeating: "a OR b ", count: 20_000))
        #expect(SearchPattern(chain, .words).matches { _ in true })
    }

    @Test("A search field accepts each text as a strict reader does, if that accepts it")
    func randomTexts() {
        var random = SeededGenerator(seed: Seed.current)
        let pieces = ["\"", "*", "(", ")", "-", "AND", "OR", "NOT", "a", "b", " ", " ", "\u{301}", "\r\n"]
        for _ in 0..<TestSizes.queries {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in SearchSamples.pick(pieces, &random) }.joined()
            let lenient = SearchExpression(text)
            guard let strict = try? SearchExpression(parsing: text) else { continue }
            #expect(lenient == strict, "seed \(Seed.current): \(text.debugDescription)")
        }
    }

    @Test("Parts without letters have no effect")
    func effects() {
        func matches(_ text: String, _ words: String) -> Bool {
            let pattern = SearchPattern(SearchExpression(text), .words)
            return pattern.matches(SearchCounts(of: pattern, in: [words]).has)
        }
        #expect(matches("", "a") && matches("&", "a") && matches("a & b", "b a") && matches("-&", "a"))
        #expect(!matches("a & b", "a") && matches("& OR b", "b") && !matches("& OR b", "a"))
        #expect(matches("-a", "b") && !matches("-a", "a"))
        #expect(!SearchPattern(.any([]), .words).matches { _ in true })
        #expect(SearchPattern(.all([]), .words).matches { _ in false })
    }
}
