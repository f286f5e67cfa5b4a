import BodegaTesting

@testable import Bodega

/// Random texts and expressions.
enum SearchSamples {
    private static let words = ["alpha", "Beta", "gamma", "delta", "alphabet", "be", "ÉLAN", "élan", "x1", "中文", "a"]

    /// A text of few words, with sentences.
    static func text(_ random: inout SeededGenerator, words count: ClosedRange<Int>) -> String {
        var text = ""
        for _ in 0..<Int.random(in: count, using: &random) {
            text += words.randomElement(using: &random)!
            text += [" ", " ", " ", "-", ", ", ". ", ": ", ".\n", "; "].randomElement(using: &random)!
        }
        return text
    }

    /// A text of letters about which tokenizers have rules.
    static func hostileText(_ random: inout SeededGenerator, hasNull: Bool) -> String {
        let letters = "aZ09 .-_'\"*()éÉßẞİıſKÅΣςσǅǆ\u{301}\u{300}\u{310}\u{345}\u{327}\u{93F}क्षि中文テキ\u{3099}한𐐀𐐨🙂"
        let others = "\u{FE0F}\u{200D}\u{FFFD}\u{FFFE}\u{FFFF}\u{E000}\u{378}\u{10FFFF}"
        let scalars = Array((letters + others).unicodeScalars) + (hasNull ? ["\0"] : [])
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            if Int.random(in: 0..<10, using: &random) == 0 {
                let value = UInt32.random(in: 1...0x10FFFF, using: &random)
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            } else {
                text.append(scalars.randomElement(using: &random)!)
            }
        }
        return String(text)
    }

    /// An expression without a negation in another one.
    static func expression(_ random: inout SeededGenerator, depth: Int = 3, form: SearchForm) -> SearchExpression {
        let kind = Int.random(in: 0..<(depth == 0 ? 3 : 7), using: &random)
        func parts(_ random: inout SeededGenerator) -> [SearchExpression] {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in expression(&random, depth: depth - 1, form: form) }
        }
        switch kind {
        case 0, 1, 2:
            if form == .substrings {
                let parts = ["alp", "bet", "a b", "lpha", "ta. ", "gam", "DELTA", "élan"]
                return .phrase(parts.randomElement(using: &random)!)
            }
            let phrase = text(&random, words: 1...(kind == 0 ? 1 : 2))
            return kind == 2 ? .prefix(phrase.first.map { String($0) } ?? "") : .phrase(phrase)
        case 3, 4: return .all(parts(&random))
        case 5: return .any(parts(&random))
        default:
            // A negation in this one would have an undefined effect on the score in FTS5.
            let excluded = SearchExpression.any(
                (0..<Int.random(in: 1...2, using: &random)).map { _ in
                    expression(&random, depth: 0, form: form)
                })
            return .all([expression(&random, depth: depth - 1, form: form), .not(excluded)])
        }
    }
}
