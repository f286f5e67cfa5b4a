extension JSONPattern {

    /// A set of characters.
    struct Characters: Sendable {
        /// What is in the set, or is not.
        enum Part: Sendable {
            case range(ClosedRange<Unicode.Scalar>)
            case categories(Set<Unicode.GeneralCategory>, isNegated: Bool)
        }

        var parts: [Part]
        /// Whether all other characters are in the set.
        var isNegated = false

        /// RFC 9485, section 5.3: all but the ends of lines.
        static let any = Characters(parts: [.range("\n"..."\n"), .range("\r"..."\r")], isNegated: true)

        init(parts: [Part], isNegated: Bool = false) {
            self.parts = parts
            self.isNegated = isNegated
        }

        init(_ scalar: Unicode.Scalar) {
            parts = [.range(scalar...scalar)]
        }

        /// Whether a character is in the set.
        func contains(_ scalar: Unicode.Scalar) -> Bool {
            let isPart = parts.contains { part in
                switch part {
                case .range(let range): range.contains(scalar)
                case .categories(let categories, let isNegated):
                    categories.contains(scalar.properties.generalCategory) != isNegated
                }
            }
            return isPart != isNegated
        }
    }

    /// The categories of Unicode by their names in an expression; that of surrogates is not among them.
    static let categories: [String: Unicode.GeneralCategory] = [
        "Lu": .uppercaseLetter, "Ll": .lowercaseLetter, "Lt": .titlecaseLetter, "Lm": .modifierLetter,
        "Lo": .otherLetter, "Mn": .nonspacingMark, "Mc": .spacingMark, "Me": .enclosingMark, "Nd": .decimalNumber,
        "Nl": .letterNumber, "No": .otherNumber, "Pc": .connectorPunctuation, "Pd": .dashPunctuation,
        "Ps": .openPunctuation, "Pe": .closePunctuation, "Pi": .initialPunctuation, "Pf": .finalPunctuation,
        "Po": .otherPunctuation, "Sm": .mathSymbol, "Sc": .currencySymbol, "Sk": .modifierSymbol, "So": .otherSymbol,
        "Zs": .spaceSeparator, "Zl": .lineSeparator, "Zp": .paragraphSeparator, "Cc": .control, "Cf": .format,
        "Co": .privateUse, "Cn": .unassigned,
    ]
}
