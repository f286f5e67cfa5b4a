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
    /// The numbers of the phrases by the first byte of their first word, so that a long list of words does not have to
    /// be compared with each word of a text.
    private var starts: [[Int]] = Array(repeating: [], count: 256)

    package var phraseCount: Int { phrases.count }

    package init(_ expression: SearchExpression, _ form: SearchForm) {
        self.form = form
        root = node(expression.node) ?? .all([])
        for (number, phrase) in phrases.enumerated() { starts[Int(phrase.words[0][0])].append(number) }
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

    /// Passes on the places of all phrases in a text, as ranges of tokens, in order.
    func forEachPlace(in text: SearchText, _ receive: (_ phrase: Int, _ place: Range<Int>) -> Void) {
        text.letters.withUnsafeBufferPointer { letters in
            for (first, token) in text.tokens.enumerated() {
                for phrase in starts[Int(letters[token.letters.lowerBound])]
                where isFound(phrases[phrase], at: first, in: text, letters) {
                    receive(phrase, first..<first + phrases[phrase].words.count)
                }
            }
        }
    }

    private func isFound(
        _ phrase: Phrase, at first: Int, in text: SearchText, _ letters: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let count = phrase.words.count
        if first + count > text.tokens.count { return false }
        for (index, word) in phrase.words.enumerated() {
            let range = text.tokens[first + index].letters
            let isBeginning = phrase.isPrefix && index == count - 1
            guard isBeginning ? range.count >= word.count : range.count == word.count else { return false }
            for offset in word.indices where letters[range.lowerBound + offset] != word[offset] { return false }
        }
        return true
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
        _ = Self.collect(root, isFound, &reasons)
        return reasons
    }

    /// Returns whether a part matches, and adds the phrases because of which it does.
    private static func collect(_ node: Node, _ isFound: (Int) -> Bool, _ reasons: inout [Int]) -> Bool {
        switch node {
        case .phrase(let number):
            guard isFound(number) else { return false }
            reasons.append(number)
            return true
        case .all(let parts):
            let count = reasons.count
            for part in parts where !collect(part, isFound, &reasons) {
                reasons.removeLast(reasons.count - count)
                return false
            }
            return true
        case .any(let parts):
            var matches = false
            for part in parts where collect(part, isFound, &reasons) { matches = true }
            return matches
        case .not(let part): return !matches(part, isFound)
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

    /// The phrases that a text must have to match, in order; `nil` if one of several is enough anywhere.
    package var conjunction: [Int]? {
        func phrases(_ node: Node) -> [Int]? {
            switch node {
            case .phrase(let number): return [number]
            case .all(let parts):
                var all: [Int] = []
                for part in parts {
                    guard let phrases = phrases(part) else { return nil }
                    all += phrases
                }
                return all
            case .any: return nil
            case .not: return []
            }
        }
        return phrases(root)
    }

    /// Combines values of the phrases that texts may have: those of all parts that must match, or of several of which
    /// one is enough.
    ///
    /// - Returns: `nil` if no phrase is needed to match.
    func combined<Value>(
        phrase: (Int) -> Value, all: ([Value]) -> Value, any: ([Value]) -> Value
    ) -> Value? {
        func value(_ node: Node) -> Value? {
            switch node {
            case .phrase(let number): return phrase(number)
            case .all(let parts):
                let values = parts.compactMap(value)
                return values.isEmpty ? nil : all(values)
            case .any(let parts):
                let values = parts.compactMap(value)
                return values.isEmpty || values.count < parts.count ? nil : any(values)
            case .not: return nil
            }
        }
        return value(root)
    }

    // MARK: FTS5

    /// The expression in the query syntax of SQLite's FTS5, `nil` if it can't be written in that.
    ///
    /// Each word is in quotation marks, so that none is an operator. FTS5 can't find everything except some texts, and
    /// by trigrams no text with fewer than three characters.
    ///
    /// Its parser has a stack for about 30 expressions in one another.
    package var fts5: String? { depth(of: root) <= 24 ? fts5(root) : nil }

    private func depth(of node: Node) -> Int {
        switch node {
        case .phrase: 1
        case .all(let parts), .any(let parts): 1 + (parts.map(depth).max() ?? 0)
        case .not(let part): 1 + depth(of: part)
        }
    }

    /// The numbers of the phrases in the order in which they are in ``fts5``.
    var orderInFTS5: [Int] {
        func order(_ node: Node) -> [Int] {
            switch node {
            case .phrase(let number): return [number]
            case .all(let parts):
                let found = parts.flatMap { if case .not = $0 { [] as [Int] } else { order($0) } }
                return found + parts.flatMap { if case .not(let inner) = $0 { order(inner) } else { [] as [Int] } }
            case .any(let parts): return parts.flatMap(order)
            case .not(let inner): return order(inner)
            }
        }
        return order(root)
    }

    /// The phrase with a number in the query syntax of FTS5, `nil` if it can't be written in that.
    package func fts5(phrase number: Int) -> String? {
        let phrase = phrases[number]
        // It ends a query.
        let hasNull = phrase.text.unicodeScalars.contains("\0")
        if form == .substrings, hasNull || phrase.words.count < 3 { return nil }
        let text = phrase.text.replacing("\0", with: " ").replacing("\"", with: "\"\"")
        return "\"\(text)\"\(phrase.isPrefix ? "*" : "")"
    }

    private func fts5(_ node: Node) -> String? {
        switch node {
        case .phrase(let number): return fts5(phrase: number)
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
