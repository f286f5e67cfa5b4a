extension JSONPattern {

    /// A set of characters.
    struct Characters: Sendable {
        /// A part of a set.
        enum Part: Sendable {
            case range(ClosedRange<Unicode.Scalar>)
            case categories(Set<Unicode.GeneralCategory>, isNegated: Bool)
        }

        /// In ascending order, without overlaps.
        private let ranges: [ClosedRange<Unicode.Scalar>]
        private let categories: [(Set<Unicode.GeneralCategory>, isNegated: Bool)]
        /// Whether all other characters are in the set.
        private let isNegated: Bool

        /// All characters except line ends: RFC 9485, section 5.3.
        static let any = Characters(parts: [.range("\n"..."\n"), .range("\r"..."\r")], isNegated: true)

        init(parts: [Part], isNegated: Bool = false) {
            var ranges: [ClosedRange<Unicode.Scalar>] = []
            var categories: [(Set<Unicode.GeneralCategory>, isNegated: Bool)] = []
            for part in parts {
                switch part {
                case .range(let range): ranges.append(range)
                case .categories(let names, let isNegated): categories.append((names, isNegated))
                }
            }
            ranges.sort { $0.lowerBound < $1.lowerBound }
            self.ranges = ranges.reduce(into: []) { merged, range in
                if let last = merged.last, range.lowerBound <= last.upperBound {
                    merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
                } else {
                    merged.append(range)
                }
            }
            self.categories = categories
            self.isNegated = isNegated
        }

        init(_ scalar: Unicode.Scalar) {
            self.init(parts: [.range(scalar...scalar)])
        }

        /// The number of parts.
        var size: Int { ranges.count + categories.count }

        /// Whether a character is in the set.
        func contains(_ scalar: Unicode.Scalar) -> Bool {
            (isInRanges(scalar) || isInCategories(scalar)) != isNegated
        }

        private func isInRanges(_ scalar: Unicode.Scalar) -> Bool {
            var (low, high) = (0, ranges.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
            }
            return low < ranges.count && ranges[low].contains(scalar)
        }

        private func isInCategories(_ scalar: Unicode.Scalar) -> Bool {
            if categories.isEmpty { return false }
            let category = scalar.properties.generalCategory
            return categories.contains { names, isNegated in names.contains(category) != isNegated }
        }
    }

    /// The Unicode categories by their names in an expression, without that of surrogates.
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
