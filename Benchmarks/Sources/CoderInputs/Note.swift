import BodegaTesting
import Foundation

/// Ten fields of the most usual types, as an app for notes would keep them; about 450 bytes of JSON.
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
        // A clock tells microseconds.
        created = Date(timeIntervalSinceReferenceDate: Double(random.next() % 800_000_000_000_000) / 1_000_000)
        source = Self.link(number, &random)
        tags = (0..<random.next() % 5).map { _ in vocabulary.pick(&random) }
        folder = random.next() % 3 == 0 ? nil : vocabulary.pick(&random).capitalized
    }

    private static func link(_ number: Int, _ random: inout SeededGenerator) -> URL {
        let text = "https://www.example.com/\(vocabulary.pick(&random))/\(number)?page=\(random.next() % 100)"
        guard let link = URL(string: text) else { preconditionFailure("\(text) is no URL") }
        return link
    }

    package func copied() -> Note {
        var copy = self
        copy.title = title.copied()
        copy.body = body.copied()
        // What Foundation allocates for a URL is counted, the string that it is made of is not, unless the URL keeps it.
        copy.source = URL(string: source.absoluteString) ?? source
        copy.tags = tags.copied()
        copy.folder = folder?.copied()
        return copy
    }
}

/// Words of ordinary length.
private let vocabulary = [
    "harbour", "light", "morning", "paper", "table", "winter", "green", "river", "mountain", "letter", "coffee",
    "garden",
    "yesterday", "tomorrow", "remember", "the", "a", "of", "and", "with", "under", "between", "meeting", "project",
    "deadline", "budget", "recipe", "travel", "ticket", "window", "question", "answer", "music", "library", "notebook",
]

extension [String] {
    /// One of the strings.
    fileprivate func pick(_ random: inout SeededGenerator) -> String {
        self[Int(random.next() % UInt64(count))]
    }
}
