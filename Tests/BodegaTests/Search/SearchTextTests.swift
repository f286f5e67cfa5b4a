import BodegaTesting
import TestSupport
import Testing

@testable import Bodega

@Suite("Texts that are divided for a search")
struct SearchTextTests {
    private func tokens(_ text: String, _ form: SearchForm) -> [String] {
        let divided = SearchText(text, form)
        guard form == .substrings else {
            return divided.tokens.indices.map { String(decoding: divided.letters(of: $0), as: UTF8.self) }
        }
        return divided.tokens.indices.dropLast(2).map { first in
            String(decoding: (first..<first + 3).flatMap { divided.letters(of: $0) }, as: UTF8.self)
        }
    }

    private static let tokenizers: [(SearchForm, String)] = [
        (.words, "unicode61 remove_diacritics 2"), (.substrings, "trigram"),
    ]

    /// The scalars, except U+0000, at which the trigrams of FTS5 end; a sample of the planes without any letters.
    private static let scalars: [Unicode.Scalar] = {
        let hasLetters = { (plane: UInt32) in plane < 4 || plane == 14 }
        let step = UInt32(TestSizes.scalarStep)
        let first = UInt32(Seed.current % UInt64(step))
        return (1...0x10FFFF).filter { hasLetters($0 >> 16) || $0 % step == first }.compactMap(Unicode.Scalar.init)
    }()

    @Test("Each scalar separates words, is dropped, or is folded as in FTS5", arguments: tokenizers)
    func eachScalar(form: SearchForm, tokenizer: String) throws {
        let rows = stride(from: 0, to: Self.scalars.count, by: 512).map { start in
            let scalars = Self.scalars[start..<min(start + 512, Self.scalars.count)]
            return scalars.map { form == .words ? "q\($0)z \($0)" : "q\($0)z" }.joined(separator: " ")
        }
        let table = try FTS5(tokenizer: tokenizer)
        try table.insert(rows.map { [$0] })
        let expected = try table.tokens()
        for (number, text) in rows.enumerated() {
            let found = tokens(text, form)
            if found.map({ Array($0.unicodeScalars) }) != expected[number + 1]?.map({ Array($0.unicodeScalars) }) {
                let known = Set(expected[number + 1] ?? [])
                let first = String(Self.scalars[number * 512].value, radix: 16)
                Issue.record("From U+\(first): \(known.symmetricDifference(found))")
            }
        }
    }

    @Test("Random texts have the tokens of FTS5", arguments: tokenizers)
    func randomTexts(form: SearchForm, tokenizer: String) throws {
        var random = SeededGenerator(seed: Seed.current)
        let texts = (0..<TestSizes.queries).map { _ in
            SearchSamples.hostileText(&random, hasNull: form == .words)
        }
        let table = try FTS5(tokenizer: tokenizer)
        try table.insert(texts.map { [$0] })
        let expected = try table.tokens()
        for (number, text) in texts.enumerated() {
            let found = tokens(text, form).map { Array($0.unicodeScalars) }
            let right = (expected[number + 1] ?? []).map { Array($0.unicodeScalars) }
            #expect(found == right, "seed \(Seed.current): \(text.debugDescription)")
        }
    }

    @Test("A very long word is compared by its first 32,768 bytes")
    func longWords() throws {
        let start = String(repeating: "ü", count: 32_767)
        let table = try FTS5(tokenizer: "unicode61 remove_diacritics 2")
        for text in [start + "ab", start + "é中b", start + "中b"] {
            let table = try FTS5(tokenizer: "unicode61 remove_diacritics 2")
            try table.insert([[text]])
            #expect(try table.tokens()[1] == tokens(text, .words))
        }
        try table.insert([[start + "ab"]])
        let expression = SearchExpression.words(start + "ac")
        let pattern = SearchPattern(expression, .words)
        #expect(try table.search(pattern.fts5 ?? "", weights: [1]).count == 1)
        #expect(pattern.instances(in: SearchText(start + "ab", .words)).count == 1)
    }

    @Test("A text that is not UTF-8 is divided like the repaired one")
    func invalidBytes() {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62, 0xE2, 0x82, 0x20, 0xF0, 0x9F, 0xED, 0xA0, 0x80, 0x63, 0xC3]
        let text = String(decoding: bytes, as: UTF8.self)
        // U+FFFD is a symbol.
        #expect(tokens(text, .words) == ["a", "b", "c"])
        let range = SearchText(text, .words).tokens[1].range
        #expect(Array(text.utf8)[range] == [0x62])
    }
}
