/// A text that is divided for a search.
package struct SearchText: Sendable {
    /// A word, or in the form ``SearchForm/substrings`` a character.
    package struct Token: Sendable {
        /// The place of its letters in ``SearchText/letters``.
        var letters: Range<Int>
        /// The place in the text, in bytes of UTF-8.
        package var range: Range<Int>
    }

    package let form: SearchForm
    /// What the tokens are compared by: their letters, one token after the other, in UTF-8.
    private(set) var letters: [UInt8] = []
    package private(set) var tokens: [Token] = []

    /// The maximum number of bytes of a word that count, as in FTS5.
    private static let maximumSize = 32_768

    /// The length of the text for ranking: the number of words or trigrams.
    package var length: Int { form == .words ? tokens.count : max(tokens.count - 2, 0) }

    package init(_ text: String, _ form: SearchForm) {
        self.form = form
        let known: ()? = text.utf8.withContiguousStorageIfAvailable { divide($0) }
        if known == nil { Array(text.utf8).withUnsafeBufferPointer { divide($0) } }
    }

    /// The letters of a token.
    func letters(of token: Int) -> ArraySlice<UInt8> { letters[tokens[token].letters] }

    private mutating func divide(_ text: UnsafeBufferPointer<UInt8>) {
        letters.reserveCapacity(text.count)
        tokens.reserveCapacity(form == .words ? text.count / 5 : text.count)
        let table = SearchLetters.of(form)
        var position = 0
        // The place of the word that is being read, `nil` between words.
        var start: (text: Int, letters: Int)?
        while position < text.count {
            let begin = position
            let letter = Self.scalar(text, &position)
            let plain = letter < 0x80 ? SearchLetters.plain(UInt8(letter), form) : table.plain(letter)
            if form == .substrings {
                let first = letters.count
                append(plain)
                tokens.append(Token(letters: first..<letters.count, range: begin..<position))
            } else if plain > SearchLetters.dropped {
                if start == nil { start = (begin, letters.count) }
                append(plain)
            } else if plain == SearchLetters.separator, let word = start {
                end(word, at: begin)
                start = nil
            }
        }
        if let start { end(start, at: position) }
    }

    private mutating func end(_ word: (text: Int, letters: Int), at end: Int) {
        let count = min(letters.count - word.letters, Self.maximumSize)
        tokens.append(Token(letters: word.letters..<word.letters + count, range: word.text..<end))
    }

    /// Reads the scalar at a place in a string's UTF-8, which is always valid.
    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> UInt32 {
        let first = text[position]
        position += 1
        if first < 0x80 { return UInt32(first) }
        let count = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
        var scalar = UInt32(first) & (0x3F >> UInt32(count))
        for _ in 0..<count where position < text.count {
            scalar = scalar << 6 | UInt32(text[position] & 0x3F)
            position += 1
        }
        return scalar
    }

    private mutating func append(_ scalar: UInt32) {
        switch scalar {
        case ..<0x80: letters.append(UInt8(scalar))
        case ..<0x800:
            letters.append(UInt8(0xC0 | scalar >> 6))
            letters.append(UInt8(0x80 | scalar & 0x3F))
        case ..<0x10000:
            letters.append(UInt8(0xE0 | scalar >> 12))
            letters.append(UInt8(0x80 | scalar >> 6 & 0x3F))
            letters.append(UInt8(0x80 | scalar & 0x3F))
        default:
            letters.append(UInt8(0xF0 | scalar >> 18))
            letters.append(UInt8(0x80 | scalar >> 12 & 0x3F))
            letters.append(UInt8(0x80 | scalar >> 6 & 0x3F))
            letters.append(UInt8(0x80 | scalar & 0x3F))
        }
    }
}
