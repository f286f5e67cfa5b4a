extension SearchExpression {

    /// The parts of a text that the expression looks for.
    ///
    /// ```swift
    /// for range in expression.highlights(in: note.title) { print(note.title[range]) }
    /// ```
    ///
    /// All phrases and words of the expression are looked for, except those that must not occur. The text need not
    /// match as a whole: a search in several properties of an object can match by one of them.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - form: The form of the search, as the objects' type declares it.
    /// - Returns: The ranges in order. Words that follow each other have a range each, the words of a phrase have one.
    ///   Ranges with common words are joined.
    public func highlights(in text: String, by form: SearchForm = .words) -> [Range<String.Index>] {
        let divided = SearchText(text, form)
        let places = SearchPattern(self, form).highlights(in: divided)
        return places.map { divided.range(of: $0, in: text) }
    }

    /// The part of a text that shows best what the expression looks for.
    ///
    /// It is the part with the most different words and phrases of the expression, and of several such parts the first
    /// one, or one at the beginning of a sentence.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - count: The maximum number of words, at least one, or of characters if that is the form.
    ///   - form: The form of the search, as the objects' type declares it.
    /// - Returns: The part, and the ranges in it to highlight. Without any hit, it is the beginning of the text.
    public func snippet(of text: String, words count: Int, by form: SearchForm = .words) -> SearchSnippet {
        let divided = SearchText(text, form)
        let pattern = SearchPattern(self, form)
        let total = divided.tokens.count
        if total == 0 { return SearchSnippet(range: text.startIndex..<text.endIndex, highlights: []) }
        let window = SearchWindow(pattern, divided, Array(text.utf8), count: min(max(count, 1), total)).best
        let part = divided.range(of: window, in: text)
        let isWhole = window.count == total
        let places = pattern.highlights(in: divided).compactMap { place in
            place.overlaps(window) ? divided.range(of: place.clamped(to: window), in: text) : nil
        }
        let start = window.lowerBound == 0 ? text.startIndex : part.lowerBound
        let end = isWhole || window.upperBound == total ? text.endIndex : part.upperBound
        return SearchSnippet(range: start..<end, highlights: places)
    }
}

/// A part of a text that shows what a search has found.
public struct SearchSnippet: Hashable, Sendable {
    /// The part. If it does not begin or end with the text, show an ellipsis there.
    public let range: Range<String.Index>
    /// The ranges of the text, in the part, to highlight.
    public let highlights: [Range<String.Index>]
}

extension SearchText {
    /// The range of some tokens in the text that was divided.
    func range(of tokens: Range<Int>, in text: String) -> Range<String.Index> {
        let start = text.utf8.index(text.startIndex, offsetBy: self.tokens[tokens.lowerBound].range.lowerBound)
        let end = text.utf8.index(text.startIndex, offsetBy: self.tokens[tokens.upperBound - 1].range.upperBound)
        return start..<end
    }
}

extension SearchPattern {
    /// The places in a text of all phrases that may occur, in order, without common tokens.
    func highlights(in text: SearchText) -> [Range<Int>] {
        var joined: [Range<Int>] = []
        for (_, place) in instances(in: text) {
            if let last = joined.last, place.lowerBound < last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, place.upperBound)
            } else {
                joined.append(place)
            }
        }
        return joined
    }

    /// The places of all phrases that may occur, in order.
    func instances(in text: SearchText) -> [(phrase: Int, place: Range<Int>)] {
        let wanted = Set(wanted)
        var instances: [(phrase: Int, place: Range<Int>)] = []
        forEachPlace(in: text) { phrase, place in if wanted.contains(phrase) { instances.append((phrase, place)) } }
        return instances
    }
}
