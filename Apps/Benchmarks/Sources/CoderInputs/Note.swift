import BodegaTesting
import Foundation

/// Ten fields of the most common types, like a note in an app; about 450 bytes of JSON.
package struct Note: Shape {
    package static let name = "note"

    var id: UUID
    var title: String
    var body: String
    var words: Int
    var rating: Double
    var isPinned: Bool
    var created: Date
    var source: URL
    var tags: [String]
    var folder: String?

    package init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = random.uuid()
        title = "\(vocabulary.pick(&random).capitalized) and \(vocabulary.pick(&random)), part \(random.next() % 20)"
        let count = Int(random.next() % 40) + 10
        body = (0..<count).map { _ in vocabulary.pick(&random) }.joined(separator: " ") + "."
        self.words = count
        rating = Double(random.next() % 51) / 10
        isPinned = random.next() % 10 == 0
        // A clock has microseconds.
        created = Date(timeIntervalSinceReferenceDate: Double(random.next() % 800_000_000_000_000) / 1_000_000)
        source = Self.link(number, &random)
        tags = (0..<random.next() % 5).map { _ in vocabulary.pick(&random) }
        folder = random.next() % 3 == 0 ? nil : vocabulary.pick(&random).capitalized
    }

    private static func link(_ number: Int, _ random: inout SeededGenerator) -> URL {
        let text = "https://www.example.com/\(vocabulary.pick(&random))/\(number)?page=\(random.next() % 100)"
        guard let link = URL(string: text) else { preconditionFailure("\(text) is not a URL") }
        return link
    }

    package func copied() -> Note {
        var copy = self
        copy.title = title.copied()
        copy.body = body.copied()
        // Foundation's allocations for a URL are counted. The string from which it is made is counted only if the URL
        // keeps it.
        copy.source = URL(string: source.absoluteString) ?? source
        copy.tags = tags.copied()
        copy.folder = folder?.copied()
        return copy
    }
}

/// Words of common lengths.
private let vocabulary = [
    "harbour", "light", "morning", "paper", "table", "winter", "green", "river", "mountain", "letter", "coffee",
    "garden",
    "yesterday", "tomorrow", "remember", "the", "a", "of", "and", "with", "under", "between", "meeting", "project",
    "deadline", "budget", "recipe", "travel", "ticket", "window", "question", "answer", "music", "library", "notebook",
]

extension [String] {
    /// A random string.
    fileprivate func pick(_ random: inout SeededGenerator) -> String {
        self[Int(random.next() % UInt64(count))]
    }
}
