import Bodega
import Foundation

/// The items of stores, the same in every session.
enum People {
    /// Creates the people with a range of numbers.
    static func make(_ numbers: Range<Int>) -> [Person] {
        numbers.map(Person.init(number:))
    }

    /// The people as records in an engine, encoded sequentially by Foundation.
    static func records(of people: [Person]) throws -> [(key: CacheKey, data: Data)] {
        let encoder = JSONEncoder()
        return try people.map { (key(of: $0), try encoder.encode($0)) }
    }

    /// The key of a person in a store.
    static func key(of person: Person) -> CacheKey {
        CacheKey(person.id.uuidString)
    }

    /// Parts of a range, small enough to limit the memory for encoding one.
    static func parts(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: 100_000).map { $0..<min($0 + 100_000, count) }
    }
}
