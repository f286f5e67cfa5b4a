/// The number of columns that text takes up on a terminal.
enum TerminalWidth {

    /// The columns of a text without control characters.
    static func columns(of text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
    }

    /// Shortens a text that is too wide, with an ellipsis at its end.
    static func cut(_ text: String, to width: Int) -> String {
        if columns(of: text) <= width { return text }
        var result = ""
        var rest = width - 1
        for character in text {
            rest -= columns(of: character)
            if rest < 0 { break }
            result.append(character)
        }
        return result + (width > 0 ? "…" : "")
    }

    private static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        // A sequence of emoji is shown as one of them, and a flag as one, too.
        if scalars.count > 1, let first = scalars.first, first.properties.isEmoji {
            let isEmoji = scalars.dropFirst().contains { scalar in
                scalar == "\u{FE0F}" || scalar == "\u{200D}" || scalar.properties.isEmojiModifier
                    || (0x1F1E6...0x1F1FF).contains(scalar.value)
            }
            if isEmoji { return 2 }
        }
        return scalars.reduce(0) { $0 + columns(of: $1) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value == 0xAD ? 1 : scalar.value < 0x20 ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        // The vowels and final consonants of a Korean syllable join its first consonant.
        case _ where (0x1160...0x11FF).contains(scalar.value): return 0
        default: return isWide(scalar.value) ? 2 : 1
        }
    }

    private static func isWide(_ value: UInt32) -> Bool {
        var range = wide.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if value < wide[middle].0 {
                range = range.lowerBound..<middle
            } else if value > wide[middle].1 {
                range = middle + 1..<range.upperBound
            } else {
                return true
            }
        }
        return false
    }

    /// The characters whose East_Asian_Width is W or F, from EastAsianWidth.txt of Unicode 14, and the hexagrams, which
    /// are W since Unicode 16. Ranges include characters that are not assigned. See
    /// https://www.unicode.org/reports/tr11/
    private static let wide: [(UInt32, UInt32)] = [
        (0x1100, 0x115F), (0x231A, 0x231B), (0x2329, 0x232A), (0x23E9, 0x23EC), (0x23F0, 0x23F0), (0x23F3, 0x23F3),
        (0x25FD, 0x25FE), (0x2614, 0x2615), (0x2648, 0x2653), (0x267F, 0x267F), (0x2693, 0x2693), (0x26A1, 0x26A1),
        (0x26AA, 0x26AB), (0x26BD, 0x26BE), (0x26C4, 0x26C5), (0x26CE, 0x26CE), (0x26D4, 0x26D4), (0x26EA, 0x26EA),
        (0x26F2, 0x26F3), (0x26F5, 0x26F5), (0x26FA, 0x26FA), (0x26FD, 0x26FD), (0x2705, 0x2705), (0x270A, 0x270B),
        (0x2728, 0x2728), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757), (0x2795, 0x2797),
        (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x2E80, 0x303E),
        (0x3041, 0x3247), (0x3250, 0xA4C6), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xF900, 0xFAFF),
        (0xFE10, 0xFE19), (0xFE30, 0xFE6B), (0xFF01, 0xFF60), (0xFFE0, 0xFFE6), (0x16FE0, 0x1B2FB),
        (0x1F004, 0x1F004), (0x1F0CF, 0x1F0CF), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F200, 0x1F320),
        (0x1F32D, 0x1F335), (0x1F337, 0x1F37C), (0x1F37E, 0x1F393), (0x1F3A0, 0x1F3CA), (0x1F3CF, 0x1F3D3),
        (0x1F3E0, 0x1F3F0), (0x1F3F4, 0x1F3F4), (0x1F3F8, 0x1F43E), (0x1F440, 0x1F440), (0x1F442, 0x1F4FC),
        (0x1F4FF, 0x1F53D), (0x1F54B, 0x1F54E), (0x1F550, 0x1F567), (0x1F57A, 0x1F57A), (0x1F595, 0x1F596),
        (0x1F5A4, 0x1F5A4), (0x1F5FB, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F6CC, 0x1F6CC), (0x1F6D0, 0x1F6D2),
        (0x1F6D5, 0x1F6DF), (0x1F6EB, 0x1F6EC), (0x1F6F4, 0x1F6FC), (0x1F7E0, 0x1F7F0), (0x1F90C, 0x1F93A),
        (0x1F93C, 0x1F945), (0x1F947, 0x1F9FF), (0x1FA70, 0x1FAF6), (0x20000, 0x3FFFD),
    ]
}
