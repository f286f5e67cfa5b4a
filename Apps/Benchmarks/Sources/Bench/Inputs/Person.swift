import BodegaTesting
import CoderInputs
import Foundation

/// An object of ten fields to encode and decode; about 400 bytes of JSON.
struct Person: Codable, Hashable, Sendable {
    var id: UUID
    var name: String
    var email: String
    var age: Int
    var balance: Double
    var isActive: Bool
    var joined: Date
    var tags: [String]
    var address: String
    var notes: String?

    /// The person with a given number, the same in every session.
    init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = random.uuid()
        name = "Person \(number) of the \(random.next() % 1_000)th house"
        email = "person.\(number)@example.com"
        age = Int(random.next() % 100)
        balance = Double(random.next() % 10_000_000) / 100
        isActive = random.next().isMultiple(of: 2)
        joined = Date(timeIntervalSinceReferenceDate: Double(random.next() % 800_000_000))
        tags = ["reader", "tag-\(random.next() % 50)", "Grüße \(random.next() % 50)"]
        address = "\(random.next() % 999) Long Street, \(random.next() % 99_999) Some City, Some Country"
        notes =
            random.next().isMultiple(of: 3)
            ? nil : "Wrote on day \(random.next() % 365): \"all is well\", and then nothing for a long, long time."
    }
}
