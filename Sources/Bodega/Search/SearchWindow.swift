/// Chooses the part of a text for a snippet, by the rule of SQLite's FTS5.
struct SearchWindow {
    private let text: SearchText
    private let bytes: [UInt8]
    private let count: Int
    private let instances: [(phrase: Int, place: Range<Int>)]

    /// - Parameters:
    ///   - pattern: What was looked for.
    ///   - text: The text.
    ///   - bytes: The text in UTF-8.
    ///   - count: The maximum number of tokens.
    init(_ pattern: SearchPattern, _ text: SearchText, _ bytes: [UInt8], count: Int) {
        (self.text, self.bytes, self.count) = (text, bytes, count)
        instances = pattern.instances(in: text)
    }

    /// The best part, as a range of tokens.
    var best: Range<Int> {
        let total = text.tokens.count
        var (score, start) = (0, 0)
        let sentences = total > count ? sentences : []
        // The sentence of an instance, and the first instance in that.
        var (sentence, firstInSentence) = (0, 0)
        for (index, instance) in instances.enumerated() {
            let first = instance.place.lowerBound
            let here = self.score(from: first, index)
            if here.score > score { (score, start) = (here.score, here.centered) }
            if sentences.isEmpty { continue }
            while sentence + 1 < sentences.count, sentences[sentence + 1] <= first { sentence += 1 }
            let begin = sentences[sentence]
            while instances[firstInSentence].place.lowerBound < begin { firstInSentence += 1 }
            if begin == first { continue }
            let whole = self.score(from: begin, firstInSentence).score + (begin == 0 ? 120 : 100)
            if whole > score { (score, start) = (whole, begin) }
        }
        return start..<min(start + count, total)
    }

    /// The score of a part, and where it begins if what was found is in its middle.
    ///
    /// - Parameter index: The first instance in the part.
    private func score(from start: Int, _ index: Int) -> (score: Int, centered: Int) {
        var seen: Set<Int> = []
        var (score, first, end) = (0, start, start)
        for (phrase, place) in instances[index...] {
            if place.lowerBound >= start + count { break }
            if seen.isEmpty { first = place.lowerBound }
            score += seen.insert(phrase).inserted ? 1_000 : 1
            end = place.upperBound
        }
        let centered = first - (count - (end - first)) / 2
        return (score, max(min(centered, text.tokens.count - count), 0))
    }

    /// The first tokens of the sentences: of the text, and after a period or a colon and a space.
    private var sentences: [Int] {
        text.tokens.indices.filter { token in
            if token == 0 { return true }
            let start = text.tokens[token].range.lowerBound
            let last = bytes[..<start].lastIndex { !" \t\n\r".utf8.contains($0) }
            return last.map { $0 < start - 1 && (bytes[$0] == UInt8(ascii: ".") || bytes[$0] == UInt8(ascii: ":")) }
                ?? false
        }
    }
}
