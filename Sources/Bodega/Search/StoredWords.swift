/// The words of an item's texts, as one text in which a database can look for phrases without knowing our rules.
///
/// Each word is between apostrophes, with a space between two words and a line feed between two texts:
/// `'two' 'words'`. No word has one of these characters. PostgreSQL reads this as a `tsvector`.
package struct StoredWords: Sendable {
    package private(set) var text = ""
    /// The length of the texts for ranking.
    package private(set) var length = 0
    /// The size of the longest word, in bytes.
    package private(set) var longest = 0

    /// - Parameter texts: The texts of an item, at least one of which is not `nil`.
    package init?(of texts: [String?]) {
        if texts.allSatisfy({ $0 == nil }) { return nil }
        var bytes: [UInt8] = []
        for (number, text) in texts.enumerated() {
            if number > 0 { bytes.append(Self.textEnd) }
            guard let text else { continue }
            let divided = SearchText(text, .words)
            length += divided.length
            for token in divided.tokens.indices {
                let word = divided.letters(of: token)
                longest = max(longest, word.count)
                if token > 0 { bytes.append(Self.wordEnd) }
                bytes.append(Self.mark)
                bytes.append(contentsOf: word)
                bytes.append(Self.mark)
            }
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    static let mark = UInt8(ascii: "'")
    static let wordEnd = UInt8(ascii: " ")
    static let textEnd = UInt8(ascii: "\n")
}

extension SearchText {
    /// The words of one text, from ``StoredWords``.
    fileprivate init(stored words: some Sequence<UInt8>) {
        var letters: [UInt8] = []
        var tokens: [Token] = []
        var start: Int?
        for byte in words {
            if byte != StoredWords.mark {
                if start != nil { letters.append(byte) }
            } else if let first = start {
                tokens.append(Token(letters: first..<letters.count, range: first..<letters.count))
                start = nil
            } else {
                start = letters.count
            }
        }
        self.init(letters: letters, tokens: tokens)
    }
}

extension SearchCounts {
    /// Looks for the phrases of a pattern in ``StoredWords``.
    package init(of pattern: SearchPattern, inStored words: UnsafeRawBufferPointer) {
        let texts = words.split(separator: StoredWords.textEnd, omittingEmptySubsequences: false)
        self.init(of: pattern, in: texts.map { SearchText(stored: $0) })
    }
}

extension SearchPattern {

    /// The part of ``StoredWords`` that has a phrase, and no others have.
    package func stored(phrase number: Int) -> String {
        let phrase = phrases[number]
        let words = phrase.words.map { "'" + String(decoding: $0, as: UTF8.self) + "'" }
        let text = words.joined(separator: " ")
        return phrase.isPrefix ? String(text.dropLast()) : text
    }

    /// Whether two places of a phrase can have a word in common, such as those of "a b a" in "a b a b a".
    package func canOverlap(phrase number: Int) -> Bool {
        let phrase = phrases[number]
        let first = phrase.words[0]
        return phrase.words.dropFirst().contains(first)
            || phrase.isPrefix && phrase.words.count > 1 && first.starts(with: phrase.words[phrase.words.count - 1])
    }

    /// Whether a phrase is found wherever PostgreSQL finds its words.
    package func isOneWord(phrase number: Int) -> Bool {
        phrases[number].words.count == 1 && phrases[number].words[0].count <= Self.longestWord
    }

    /// The size of the longest word that PostgreSQL is asked about, in bytes. Of a longer one, it finds the beginning.
    private static let longestWord = 1_000

    /// The query of PostgreSQL's `tsquery` for the words of a phrase, wherever they are.
    package func tsquery(phrase number: Int) -> String {
        let phrase = phrases[number]
        let words = phrase.words.enumerated().map { index, word in
            let isPrefix = phrase.isPrefix && index == phrase.words.count - 1
            if word.count <= Self.longestWord { return Self.tsquery(word, isPrefix: isPrefix) }
            var size = Self.longestWord
            // The first byte of a scalar is none of those that follow in one.
            while word[size] & 0xC0 == 0x80 { size -= 1 }
            return Self.tsquery(Array(word.prefix(size)), isPrefix: true)
        }
        return words.count == 1 ? words[0] : "(" + words.joined(separator: " & ") + ")"
    }

    private static func tsquery(_ word: [UInt8], isPrefix: Bool) -> String {
        "'" + String(decoding: word, as: UTF8.self) + "'" + (isPrefix ? ":*" : "")
    }

    /// The query of PostgreSQL's `tsquery` that finds all matches, and others; `nil` if there is none.
    ///
    /// What texts must not have is not in it, because more than words is compared.
    package var tsquery: String? {
        combined(phrase: { tsquery(phrase: $0) }, all: { Self.joined($0, " & ") }, any: { Self.joined($0, " | ") })
    }

    /// Halves of halves, because the server examines a long list by as many calls within calls.
    private static func joined(_ parts: [String], _ separator: String) -> String {
        if parts.count == 1 { return parts[0] }
        let half = parts.count / 2
        let halves = [joined(Array(parts.prefix(half)), separator), joined(Array(parts.dropFirst(half)), separator)]
        return "(" + halves.joined(separator: separator) + ")"
    }
}
