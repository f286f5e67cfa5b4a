/// Makes text from a store safe to show: a key may contain control characters that a terminal would interpret.
enum TerminalText {

    /// Escapes control characters, as in `\n` and `\u{1B}`, and characters that change the direction of text, so that
    /// no key can look like another.
    ///
    /// - Parameter keepingNewlines: Whether line feeds stay.
    static func escaped(_ text: String, keepingNewlines: Bool = false) -> String {
        let isEscaped = { (scalar: Unicode.Scalar) in isDangerous(scalar) && !(keepingNewlines && scalar == "\n") }
        return replacing(isEscaped, in: text, with: escape)
    }

    /// Escapes the same characters in JSON, whose own whitespace stays. All other control characters are in strings.
    static func escapedInJSON(_ json: String) -> String {
        let isEscaped = { (scalar: Unicode.Scalar) in isDangerous(scalar) && !"\n\r\t".unicodeScalars.contains(scalar) }
        return replacing(isEscaped, in: json) { scalar in
            // None is outside of the basic plane, so that each is one code unit of UTF-16.
            let digits = String(scalar.value, radix: 16)
            return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }
    }

    /// Replaces some scalars of a text.
    static func replacing(
        _ isReplaced: (Unicode.Scalar) -> Bool, in text: String, with replacement: (Unicode.Scalar) -> String
    ) -> String {
        guard text.unicodeScalars.contains(where: isReplaced) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isReplaced(scalar) { result += replacement(scalar).unicodeScalars } else { result.append(scalar) }
        }
        return String(result)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Line and paragraph separators, and all characters that change the direction of text: UAX #9, section 2.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
