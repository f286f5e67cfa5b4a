import Foundation

/// How well texts match a search, by the formula BM25 with the constants of SQLite's FTS5.
///
/// The source of the formula is S. Robertson and H. Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*,
/// 2009. A phrase that more than half of all texts have counts almost nothing, instead of less than nothing.
public struct SearchRanking: Hashable, Sendable {
    /// The number of objects with a text, in JSON also of those that can't be decoded.
    public var count = 0
    /// The length of all their texts, in words, or in trigrams for ``SearchForm/substrings``.
    public var length = 0
    /// For each word or phrase of the search, in their order, the number of objects that have it.
    public var found: [Int]

    private static let (k1, b) = (1.2, 0.75)
    private static let minimumWeight = 1e-6

    /// Creates the numbers of no objects.
    ///
    /// - Parameter phrases: The number of words and phrases of the search.
    public init(phrases: Int) { found = Array(repeating: 0, count: phrases) }

    /// Adds an object.
    package mutating func add(_ counts: SearchCounts) {
        count += 1
        length += counts.length
        for phrase in found.indices where counts.has(phrase) { found[phrase] += 1 }
    }

    /// The score of an object; a larger one is better.
    ///
    /// - Parameters:
    ///   - counts: What was found in its texts.
    ///   - phrases: The phrases that count, see ``SearchPattern/reasons(_:)``.
    ///   - weights: The weight of each text.
    package func score(_ counts: SearchCounts, phrases: [Int], weights: [Double]) -> Double {
        score(length: counts.length, phrases: phrases, rarities: phrases.map(rarity)) { phrase in
            zip(counts.counts[phrase], weights).reduce(0) { $0 + Double($1.0) * $1.1 }
        }
    }

    /// How much a phrase counts.
    package func rarity(of phrase: Int) -> Double {
        let found = Double(found[phrase])
        let rarity = log((Double(count) - found + 0.5) / (found + 0.5))
        return rarity <= 0 ? Self.minimumWeight : rarity
    }

    /// The score of an object.
    ///
    /// - Parameters:
    ///   - length: The length of its texts.
    ///   - phrases: The phrases that count.
    ///   - rarities: How much each of them counts.
    ///   - frequency: How often the object has a phrase, by the weights of its texts.
    @inline(__always)
    func score(length: Int, phrases: [Int], rarities: [Double], frequency: (Int) -> Double) -> Double {
        let average = Double(self.length) / Double(count)
        // Parts of words are found in texts without a trigram, too.
        let relative = average > 0 ? Self.b * Double(length) / average : Self.b
        let norm = Self.k1 * (1 - Self.b + relative)
        var score = 0.0
        for (phrase, rarity) in zip(phrases, rarities) {
            let frequency = frequency(phrase)
            score += rarity * ((frequency * (Self.k1 + 1)) / (frequency + norm))
        }
        return score
    }
}

/// How often the texts of an object have the phrases of a search.
package struct SearchCounts: Sendable {
    /// For each phrase and each text, the number of places.
    package var counts: [[Int]]
    /// The length of all texts.
    package var length: Int

    /// Looks for the phrases of a pattern.
    ///
    /// - Parameter texts: The texts, `nil` where an object has none.
    package init(of pattern: SearchPattern, in texts: [String?]) {
        self.init(of: pattern, in: texts.map { $0.map { SearchText($0, pattern.form) } })
    }

    /// Looks for the phrases of a pattern in divided texts.
    init(of pattern: SearchPattern, in texts: [SearchText?]) {
        (length, counts) = (0, pattern.phrases.map { _ in texts.map { _ in 0 } })
        for (number, text) in texts.enumerated() {
            guard let text else { continue }
            length += text.length
            pattern.forEachPlace(in: text) { phrase, _ in counts[phrase][number] += 1 }
        }
    }

    /// Whether any of the texts has a phrase.
    package func has(_ phrase: Int) -> Bool { counts[phrase].contains { $0 > 0 } }
}
