/// What the letters of a text are in a search: which of them separate words, and which are equal.
///
/// The rules are those of SQLite's FTS5. They are in tables, because they must not change with the version of Unicode
/// that the Swift library knows: an index that an earlier version of a program has made would lack words.
struct SearchLetters: Sendable {
    /// For each scalar of the Basic Multilingual Plane, the one that stands for all that are equal to it, or one of the
    /// two below.
    private let plain: [UInt16]
    private let form: SearchForm

    /// Stands for scalars that are not part of a word. In the form `words`, no letter is equal to U+0000 or U+0001.
    static let separator: UInt32 = 0
    /// Stands for scalars that are left out, and that only a word before them makes part of a word.
    static let dropped: UInt32 = 1

    private static let words = SearchLetters(.words)
    private static let substrings = SearchLetters(.substrings)

    static func of(_ form: SearchForm) -> SearchLetters { form == .words ? words : substrings }

    private init(_ form: SearchForm) {
        self.form = form
        var plain = (0...UInt16.max).map { $0 }
        for letter in UInt8(0)..<0x80 { plain[Int(letter)] = UInt16(Self.plain(letter, form)) }
        for run in stride(from: 0, to: Self.foldings.count, by: 4) {
            let (first, distance, count) = (Self.foldings[run], Self.foldings[run + 1], Self.foldings[run + 2])
            for letter in stride(from: first, to: first + distance * count, by: Int(distance)) where letter < 0x10000 {
                plain[Int(letter)] = UInt16(letter + Self.foldings[run + 3])
            }
        }
        if form == .words {
            var letters: [UInt16: UInt16] = [:]
            for (letter, variants) in Self.plainLetters {
                for variant in variants.unicodeScalars { letters[UInt16(variant.value)] = UInt16(letter.value) }
            }
            for index in plain.indices { plain[index] = letters[plain[index]] ?? plain[index] }
            for ends in stride(from: 0, to: Self.separators.count, by: 2) where Self.separators[ends] < 0x10000 {
                for letter in Self.separators[ends]...Self.separators[ends + 1] { plain[Int(letter)] = 0 }
            }
            for ends in stride(from: 0, to: Self.droppedMarks.count, by: 2) {
                for letter in Self.droppedMarks[ends]...Self.droppedMarks[ends + 1] { plain[Int(letter)] = 1 }
            }
        }
        self.plain = plain
    }

    /// The scalar that stands for all that are equal to one, or ``separator`` or ``dropped``.
    func plain(_ scalar: UInt32) -> UInt32 {
        if scalar < 0x10000 { return UInt32(plain[Int(scalar)]) }
        // Deseret is the only script beyond the plane whose case the tokenizer knows.
        if (0x10400..<0x10428).contains(scalar) { return scalar + 40 }
        return form == .words && Self.isSeparator(scalar) ? Self.separator : scalar
    }

    /// The letter that stands for an ASCII character, or ``separator``.
    static func plain(_ letter: UInt8, _ form: SearchForm) -> UInt32 {
        switch letter {
        case 0x41...0x5A: UInt32(letter + 0x20)
        case 0x30...0x39, 0x61...0x7A: UInt32(letter)
        default: form == .words ? separator : UInt32(letter)
        }
    }

    private static func isSeparator(_ scalar: UInt32) -> Bool {
        var (low, high) = (0, separators.count / 2)
        while low < high {
            let middle = (low + high) / 2
            if separators[2 * middle + 1] < scalar { low = middle + 1 } else { high = middle }
        }
        return 2 * low < separators.count && separators[2 * low] <= scalar
    }
}
