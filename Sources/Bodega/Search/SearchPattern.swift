/// An expression for texts of one form: its words and phrases, and how they are combined.
package struct SearchPattern: Sendable {
    /// Words, one after the other.
    struct Phrase: Sendable {
        /// The text that was looked for.
        var text: String
        var words: [[UInt8]]
        /// Whether the last word may be the beginning of one.
        var isPrefix: Bool
    }

    private indirect enum Node: Sendable {
        /// The number of a phrase.
        case phrase(Int)
        case all([Node])
        case any([Node])
        case not(Node)
    }

    package let form: SearchForm
    private(set) var phrases: [Phrase] = []
    private var root = Node.all([])

    package var phraseCount: Int { phrases.count }

    package init(_ expression: SearchExpression, _ form: SearchForm) {
        self.form = form
        root = node(expression.node) ?? .all([])
    }

    /// Returns a part of an expression, `nil` if it has no effect.
    private mutating func node(_ node: SearchExpression.Node) -> Node? {
        switch node {
        case .text(let text, let isPrefix):
            let divided = SearchText(text, form)
            if divided.tokens.isEmpty { return nil }
            let words = divided.tokens.indices.map { Array(divided.letters(of: $0)) }
            phrases.append(Phrase(text: text, words: words, isPrefix: isPrefix && form == .words))
            return .phrase(phrases.count - 1)
        case .all(let parts):
            let known = parts.compactMap { self.node($0) }
            return known.isEmpty ? nil : known.count == 1 ? known[0] : .all(known)
        case .any(let parts):
            let known = parts.compactMap { self.node($0) }
            return known.isEmpty && !parts.isEmpty ? nil : known.count == 1 ? known[0] : .any(known)
        case .not(let part):
            return self.node(part).map(Node.not)
        }
    }

    // MARK: Matching

    /// The places of a phrase in a text, as ranges of tokens in order.
    func places(of phrase: Int, in text: SearchText) -> [Range<Int>] {
        let (words, isPrefix) = (phrases[phrase].words, phrases[phrase].isPrefix)
        let (count, letters) = (words.count, text.letters)
        var places: [Range<Int>] = []
        if text.tokens.count < count { return [] }
        for first in 0...(text.tokens.count - count) {
            let isFound = words.indices.allSatisfy { index in
                let (word, range) = (words[index], text.tokens[first + index].letters)
                let isBeginning = isPrefix && index == count - 1
                guard isBeginning ? range.count >= word.count : range.count == word.count else { return false }
                // A loop of its own, because this is called for each word of each text.
                for offset in word.indices where letters[range.lowerBound + offset] != word[offset] { return false }
                return true
            }
            if isFound { places.append(first..<first + count) }
        }
        return places
    }

    /// Returns whether texts match in which phrases are found.
    ///
    /// - Parameter isFound: Whether a text has the phrase with a number.
    package func matches(_ isFound: (Int) -> Bool) -> Bool { Self.matches(root, isFound) }

    private static func matches(_ node: Node, _ isFound: (Int) -> Bool) -> Bool {
        switch node {
        case .phrase(let number): isFound(number)
        case .all(let parts): parts.allSatisfy { matches($0, isFound) }
        case .any(let parts): parts.contains { matches($0, isFound) }
        case .not(let part): !matches(part, isFound)
        }
    }

    /// The numbers of the phrases because of which texts match, in order.
    ///
    /// A phrase in a part that does not match, or that must not match, is none of them.
    package func reasons(_ isFound: (Int) -> Bool) -> [Int] {
        var reasons: [Int] = []
        Self.collect(root, isFound, &reasons)
        return reasons
    }

    private static func collect(_ node: Node, _ isFound: (Int) -> Bool, _ reasons: inout [Int]) {
        guard matches(node, isFound) else { return }
        switch node {
        case .phrase(let number): reasons.append(number)
        case .all(let parts), .any(let parts): for part in parts { collect(part, isFound, &reasons) }
        case .not: break
        }
    }

    /// The numbers of the phrases that may occur, in order.
    var wanted: [Int] {
        func collect(_ node: Node) -> [Int] {
            switch node {
            case .phrase(let number): [number]
            case .all(let parts), .any(let parts): parts.flatMap(collect)
            case .not: []
            }
        }
        return collect(root)
    }

    // MARK: FTS5

    /// The expression in the query syntax of SQLite's FTS5, `nil` if it can't be written in that.
    ///
    /// Each word is in quotation marks, so that none is an operator. FTS5 can't find everything except some texts, and
    /// by trigrams no text with fewer than three characters.
    package var fts5: String? { fts5(root) }

    private func fts5(_ node: Node) -> String? {
        switch node {
        case .phrase(let number):
            let phrase = phrases[number]
            // It ends a query.
            let hasNull = phrase.text.unicodeScalars.contains("\0")
            if form == .substrings, hasNull || phrase.words.count < 3 { return nil }
            let text = phrase.text.replacing("\0", with: " ").replacing("\"", with: "\"\"")
            return "\"\(text)\"\(phrase.isPrefix ? "*" : "")"
        case .all(let parts):
            var (found, excluded): ([String], [String]) = ([], [])
            for part in parts {
                if case .not(let inner) = part {
                    guard let text = fts5(inner) else { return nil }
                    excluded.append(text)
                } else {
                    guard let text = fts5(part) else { return nil }
                    found.append(text)
                }
            }
            if found.isEmpty { return nil }
            let all = "(" + found.joined(separator: " AND ") + ")"
            return excluded.isEmpty ? all : "(\(all) NOT (\(excluded.joined(separator: " OR "))))"
        case .any(let parts):
            let texts = parts.compactMap(fts5)
            return texts.isEmpty || texts.count < parts.count ? nil : "(" + texts.joined(separator: " OR ") + ")"
        case .not:
            return nil
        }
    }
}
