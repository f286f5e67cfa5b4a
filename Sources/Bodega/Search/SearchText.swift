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

    /// Words that were divided before.
    init(letters: [UInt8], tokens: [Token]) { (form, self.letters, self.tokens) = (.words, letters, tokens) }

    /// The letters of a token.
    func letters(of token: Int) -> ArraySlice<UInt8> { letters[tokens[token].letters] }

    private mutating func divide(_ text: UnsafeBufferPointer<UInt8>) {
        var tokens: [Token] = []
        tokens.reserveCapacity(form == .words ? text.count / 5 : text.count)
        // Of two bytes, a letter can become three.
        letters = Array(unsafeUninitializedCapacity: text.count + text.count / 2) { [form] letters, count in
            var writer = Writer(letters: letters)
            if form == .words {
                Self.divideIntoWords(text, &writer, &tokens)
            } else {
                Self.divideIntoCharacters(text, &writer, &tokens)
            }
            count = writer.count
        }
        self.tokens = tokens
    }

    private static func divideIntoWords(
        _ text: UnsafeBufferPointer<UInt8>, _ writer: inout Writer, _ tokens: inout [Token]
    ) {
        let table = SearchLetters.of(.words)
        var position = 0
        // The place of the word that is being read, `nil` between words.
        var start: (text: Int, letters: Int)?
        func end(at position: Int, _ writer: Writer) {
            guard let word = start else { return }
            let size = min(writer.count - word.letters, maximumSize)
            tokens.append(Token(letters: word.letters..<word.letters + size, range: word.text..<position))
            start = nil
        }
        while position < text.count {
            let begin = position
            let letter = scalar(text, &position)
            let plain = letter < 0x80 ? SearchLetters.plain(UInt8(letter), .words) : table.plain(letter)
            if plain > SearchLetters.dropped {
                if start == nil { start = (begin, writer.count) }
                writer.append(plain)
            } else if plain == SearchLetters.separator {
                end(at: begin, writer)
            }
        }
        end(at: position, writer)
    }

    private static func divideIntoCharacters(
        _ text: UnsafeBufferPointer<UInt8>, _ writer: inout Writer, _ tokens: inout [Token]
    ) {
        let table = SearchLetters.of(.substrings)
        var position = 0
        while position < text.count {
            let (begin, first) = (position, writer.count)
            let letter = scalar(text, &position)
            writer.append(letter < 0x80 ? SearchLetters.plain(UInt8(letter), .substrings) : table.plain(letter))
            tokens.append(Token(letters: first..<writer.count, range: begin..<position))
        }
    }

    /// Reads the scalar at a place in a string's UTF-8, which is always valid.
    @inline(__always)
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

    /// Writes letters as UTF-8.
    private struct Writer {
        let letters: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(letters: UnsafeMutableBufferPointer<UInt8>) { self.letters = letters }

        @inline(__always)
        mutating func append(_ scalar: UInt32) {
            if scalar < 0x80 { return append(byte: scalar) }
            if scalar < 0x800 {
                append(byte: 0xC0 | scalar >> 6)
            } else {
                if scalar < 0x10000 {
                    append(byte: 0xE0 | scalar >> 12)
                } else {
                    append(byte: 0xF0 | scalar >> 18)
                    append(byte: 0x80 | scalar >> 12 & 0x3F)
                }
                append(byte: 0x80 | scalar >> 6 & 0x3F)
            }
            append(byte: 0x80 | scalar & 0x3F)
        }

        private mutating func append(byte: UInt32) {
            letters.initializeElement(at: count, to: UInt8(truncatingIfNeeded: byte))
            count += 1
        }
    }
}
