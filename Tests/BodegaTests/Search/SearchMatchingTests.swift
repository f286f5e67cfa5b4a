import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite("Matching, ranking and highlighting, compared with FTS5")
struct SearchMatchingTests {
    private static let tokenizers: [(SearchForm, String)] = [
        (.words, "unicode61 remove_diacritics 2"), (.substrings, "trigram"),
    ]

    @Test("Random expressions find the rows of FTS5 with its scores", arguments: tokenizers)
    func randomExpressions(form: SearchForm, tokenizer: String) throws {
        var random = SeededGenerator(seed: Seed.current)
        var found = 0
        for _ in 0..<max(TestSizes.queries / 100, 4) {
            let rows = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                [SearchSamples.text(&random, words: 0...6), SearchSamples.text(&random, words: 0...30)]
            }
            let weights = SearchSamples.pick([[1, 1], [2, 1], [10, 0.5], [0, 3]], &random)
            let table = try FTS5(columns: 2, tokenizer: tokenizer)
            try table.insert(rows)
            for _ in 0..<20 {
                let isScored = Bool.random(using: &random)
                let expression = SearchSamples.expression(&random, form: form, isScored: isScored)
                let pattern = SearchPattern(expression, form)
                guard let text = pattern.fts5 else { continue }
                let expected = try table.search(text, weights: weights)
                let comment = Comment(rawValue: "seed \(Seed.current): \(text) in \(rows)")
                let scores = Self.scores(rows, pattern, weights)
                try #require(scores.map(\.row) == expected.map(\.row), comment)
                for (own, right) in zip(scores, expected) where isScored {
                    #expect(abs(own.score - right.score) <= 1e-12 * abs(right.score), comment)
                }
                found += expected.count
            }
        }
        #expect(found > 100)
    }

    private static func scores(
        _ rows: [[String]], _ pattern: SearchPattern, _ weights: [Double]
    ) -> [(row: Int, score: Double)] {
        let counts = rows.map { SearchCounts(of: pattern, in: $0) }
        var ranking = SearchRanking(phrases: pattern.phrases.count)
        counts.forEach { ranking.add($0) }
        return counts.enumerated().compactMap { row, counts in
            guard pattern.matches(counts.has) else { return nil }
            return (row + 1, ranking.score(counts, phrases: pattern.reasons(counts.has), weights: weights))
        }
    }

    @Test("Only the parts of an expression that match count")
    func reasons() throws {
        let rows = ["a b", "b", "c x", "x", "x y z x", "y y"].map { [$0] }
        func score(_ expression: SearchExpression) -> Double? {
            Self.scores(rows, SearchPattern(expression, .words), [1]).first { $0.row == 1 }?.score
        }
        let (a, b, c, x) = (SearchExpression.words("a"), .words("b"), .words("c"), .words("x")) as Expressions
        // With one hit in two words, where the average is two, of a word in one of six texts, or in two.
        let ofA = log(5.5 / 1.5) * 2.2 / (1 + 1.2)
        let ofB = log(4.5 / 2.5) * 2.2 / (1 + 1.2)
        let cases: [(SearchExpression, Double)] = [
            (a, ofA), (.any([a, b]), ofA + ofB), (.any([a, .all([b, c])]), ofA), (.all([a, .not(c)]), ofA),
            (.any([a, .not(c)]), ofA), (.any([a, .all([b, .not(a)])]), ofA), (.not(.all([b, .not(a)])), 0),
            (.any([.all([a, b]), .all([a, x])]), ofA + ofB), (.all([a, a]), 2 * ofA),
        ]
        for (expression, expected) in cases {
            let found = try #require(score(expression))
            #expect(abs(found - expected) < 1e-14, "\(expression)")
        }
        #expect(score(c) == nil)
    }

    private typealias Expressions = (SearchExpression, SearchExpression, SearchExpression, SearchExpression)

    @Test("Highlights and snippets are those of FTS5")
    func highlights() throws {
        var random = SeededGenerator(seed: Seed.current)
        var (highlighted, shortened) = (0, 0)
        for _ in 0..<max(TestSizes.queries / 20, 20) {
            let text = SearchSamples.text(&random, words: 1...40)
            let table = try FTS5(tokenizer: "unicode61 remove_diacritics 2")
            try table.insert([[text], ["nothing"], ["nil"], ["none"]])
            // Phrases that overlap are joined in another way in each version of SQLite.
            let words = (1...3).map { _ in SearchSamples.text(&random, words: 1...1) }
            let expression = SearchExpression.any(words.map(SearchExpression.phrase))
            // SQLite 3.40 takes a part that ends with the first word for one without an end.
            let count = Int.random(in: 2...12, using: &random)
            let search = try #require(SearchPattern(expression, .words).fts5)
            guard let expected = try table.search(search, weights: [1], words: count).first else {
                #expect(expression.highlights(in: text).isEmpty)
                continue
            }
            let comment = Comment(rawValue: "seed \(Seed.current): \(search), \(count) in \(text.debugDescription)")
            #expect(Self.marked(text, expression.highlights(in: text)) == expected.highlighted[0], comment)
            highlighted += 1
            let snippet = expression.snippet(of: text, words: count)
            let (start, end) = (snippet.range.lowerBound, snippet.range.upperBound)
            let shown = (start == text.startIndex ? "" : "…") + text[start..<end] + (end == text.endIndex ? "" : "…")
            #expect(shown == expected.snippet, comment)
            if snippet.range != text.startIndex..<text.endIndex { shortened += 1 }
            #expect(snippet.highlights == expression.highlights(in: text).filter(snippet.range.contains), comment)
        }
        #expect(highlighted > 10 && shortened > 5)
    }

    private static func marked(_ text: String, _ ranges: [Range<String.Index>]) -> String {
        var (marked, position) = ("", text.startIndex)
        for range in ranges {
            marked += text[position..<range.lowerBound] + "⟦" + text[range] + "⟧"
            position = range.upperBound
        }
        return marked + text[position...]
    }

    @Test(
        "Highlights of phrases and parts of words",
        arguments: [
            (
                "one two one two three", SearchExpression.phrase("one two"), SearchForm.words,
                "⟦one two⟧ ⟦one two⟧ three"
            ),
            ("one two one two three", .phrase("one two one"), .words, "⟦one two one⟧ two three"),
            ("ab ab ab", .phrase("ab ab"), .words, "⟦ab ab ab⟧"),
            ("ab cd ef", .any([.phrase("ab cd"), .phrase("cd ef")]), .words, "⟦ab cd ef⟧"),
            ("ab cd ef", .all([.words("ab"), .words("cd")]), .words, "⟦ab⟧ ⟦cd⟧ ef"),
            ("ab cd", .all([.words("ab"), .not(.words("cd"))]), .words, "⟦ab⟧ cd"),
            ("Swift, swifter", .prefix("swif"), .words, "⟦Swift⟧, ⟦swifter⟧"),
            ("e\u{301}lan et ÉLAN", .words("elan"), .words, "⟦e\u{301}lan⟧ et ⟦ÉLAN⟧"),
            ("東京都庁", .words("京都"), .substrings, "東⟦京都⟧庁"),
            ("aaaa BAaB", .words("aa"), .substrings, "⟦aaaa⟧ B⟦Aa⟧B"),
            ("a", .words("aa"), .substrings, "a"),
            ("", .words("aa"), .words, ""),
            ("K\u{212A}k", .words("kk"), .substrings, "⟦K\u{212A}k⟧"),
        ])
    func fixedHighlights(text: String, expression: SearchExpression, form: SearchForm, expected: String) {
        #expect(Self.marked(text, expression.highlights(in: text, by: form)) == expected)
    }

    @Test("A snippet of a text without hits is its beginning")
    func snippets() {
        let text = "One two three. Four five six."
        let none = SearchExpression("seven").snippet(of: text, words: 2)
        #expect(text[none.range] == "One two" && none.highlights.isEmpty)
        let some = SearchExpression(#""three four""#).snippet(of: text, words: 1)
        #expect(some.highlights.map { text[$0] } == ["three"])
        for empty in ["", "…"] {
            #expect(empty[SearchExpression("seven").snippet(of: empty, words: 0).range] == empty)
        }
        for count in [6, 100, Int.max] {
            let whole = SearchExpression("three six").snippet(of: text, words: count)
            #expect(text[whole.range] == text && whole.highlights.map { text[$0] } == ["three", "six"])
        }
    }

    @Test("Texts that hold FTS5's operators are words, and find what FTS5 finds")
    func injection() throws {
        var random = SeededGenerator(seed: Seed.current)
        let rows = (0..<200).map { _ in [SearchSamples.hostileText(&random, hasNull: true)] }
        let table = try FTS5(tokenizer: "unicode61 remove_diacritics 2")
        try table.insert(rows)
        let operators = ["\"", "*", "(", ")", "^", "{", "}", ":", "+", "-", "NEAR", "AND", "OR", "NOT"]
        let pieces = operators + ["a", "é", "中", " ", "\0"]
        for _ in 0..<TestSizes.queries {
            let count = Int.random(in: 1...8, using: &random)
            let text = (0...count).map { _ in SearchSamples.pick(pieces, &random) }.joined()
            let pattern = SearchPattern(Bool.random(using: &random) ? .prefix(text) : SearchExpression(text), .words)
            guard let search = pattern.fts5 else { continue }
            let expected = try table.search(search, weights: [1]).map(\.row)
            let comment = Comment(rawValue: "seed \(Seed.current): \(text.debugDescription)")
            #expect(Self.scores(rows, pattern, [1]).map(\.row) == expected, comment)
        }
    }

    @Test("Each phrase of a nested expression is looked up once")
    func nestedExpressions() {
        var expression = SearchExpression.words("w0")
        for number in 1...300 {
            let word = SearchExpression.words("w\(number)")
            expression = number % 2 == 0 ? .all([word, expression]) : .any([word, expression])
        }
        let pattern = SearchPattern(expression, .words)
        var count = 0
        let reasons = pattern.reasons { _ in
            count += 1
            return true
        }
        #expect(count == pattern.phraseCount && count == 301 && reasons == Array(0..<301))
        // Only "w0" and those of the disjunctions: what is around them does not match.
        #expect(pattern.reasons { $0 == 300 } == [])
        #expect(
            SearchPattern(.any([.words("a"), .all([.words("b"), .words("c")])]), .words).reasons { $0 != 2 } == [0])
    }

    @Test("An expression that is built step by step is flat")
    func flatExpressions() {
        let words = (0..<3_000).map { SearchExpression.words("w\($0)") }
        #expect(words.dropFirst().reduce(words[0]) { .all([$0, $1]) } == .all(words))
        #expect(words.dropFirst().reduce(words[0]) { .any([$0, $1]) } == .any(words))
        #expect((0..<100_000).reduce(words[0]) { expression, _ in .not(expression) } == words[0])
    }
}
