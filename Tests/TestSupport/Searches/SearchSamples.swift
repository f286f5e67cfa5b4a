package import Bodega
package import BodegaTesting

/// Random texts and expressions.
package enum SearchSamples {
    private static let words = ["alpha", "Beta", "gamma", "delta", "alphabet", "be", "ÉLAN", "élan", "x1", "中文", "a"]

    /// One of several values.
    package static func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    /// A text of few words, with sentences.
    package static func text(_ random: inout SeededGenerator, words count: ClosedRange<Int>) -> String {
        var text = ""
        for _ in 0..<Int.random(in: count, using: &random) {
            text += pick(words, &random)
            text += pick([" ", " ", " ", "-", ", ", ". ", ": ", ".\n", "; "], &random)
        }
        return text
    }

    /// A text of letters about which tokenizers have rules.
    package static func hostileText(_ random: inout SeededGenerator, hasNull: Bool) -> String {
        let letters = "aZ09 .-_'\"*()éÉßẞİıſKÅΣςσǅǆ\u{301}\u{300}\u{310}\u{345}\u{327}\u{93F}क्षि中文テキ\u{3099}한𐐀𐐨🙂"
        let others = "\u{FE0F}\u{200D}\u{FFFD}\u{FFFE}\u{FFFF}\u{E000}\u{378}\u{10FFFF}"
        let scalars = Array((letters + others).unicodeScalars) + (hasNull ? ["\0"] : [])
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            if Int.random(in: 0..<10, using: &random) == 0 {
                let value = UInt32.random(in: 1...0x10FFFF, using: &random)
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            } else {
                text.append(pick(scalars, &random))
            }
        }
        return String(text)
    }

    /// An expression that FTS5 can evaluate.
    ///
    /// - Parameter isScored: Whether FTS5 has a defined score for it: a disjunction is of words, and is in no other
    ///   part than a negation. Of other disjunctions, FTS5 misses or adds some words in about one row in 100,000,
    ///   depending on how far it has read the rows of the parts.
    package static func expression(
        _ random: inout SeededGenerator, depth: Int = 3, form: SearchForm, isScored: Bool = true
    ) -> SearchExpression {
        let kind = depth == 0 ? 0 : Int.random(in: 0..<6, using: &random)
        func parts(_ random: inout SeededGenerator) -> [SearchExpression] {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                expression(&random, depth: depth - 1, form: form, isScored: isScored)
            }
        }
        func alternatives(_ random: inout SeededGenerator) -> SearchExpression {
            if !isScored { return .any(parts(&random)) }
            let chosen: [SearchExpression] = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                form == .words ? .phrase(pick(words, &random)) : phrase(&random, form)
            }
            return .any(chosen)
        }
        switch kind {
        case 2, 3: return .all(parts(&random))
        case 4 where depth == 3 || !isScored: return alternatives(&random)
        case 5: return .all(parts(&random) + [.not(alternatives(&random))])
        default: return phrase(&random, form)
        }
    }

    private static func phrase(_ random: inout SeededGenerator, _ form: SearchForm) -> SearchExpression {
        if form == .substrings {
            return .phrase(pick(["alp", "bet", "a b", "lpha", "ta. ", "gam", "DELTA", "élan"], &random))
        }
        let phrase = text(&random, words: 1...Int.random(in: 1...2, using: &random))
        return Int.random(in: 0..<3, using: &random) == 0 ? .prefix(String(phrase.prefix(1))) : .phrase(phrase)
    }
}
