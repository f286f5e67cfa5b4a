import Bodega
import Foundation

/// The people that stores hold: the same in every session.
enum People {
    /// Makes the people of a range of numbers.
    static func make(_ numbers: Range<Int>) -> [Person] {
        numbers.map(Person.init(number:))
    }

    /// The people as an engine keeps them, encoded by Foundation, one after the other.
    static func records(of people: [Person]) throws -> [(key: CacheKey, data: Data)] {
        let encoder = JSONEncoder()
        return try people.map { (key(of: $0), try encoder.encode($0)) }
    }

    /// The key under which a store keeps a person.
    static func key(of person: Person) -> CacheKey {
        CacheKey(person.id.uuidString)
    }

    /// Parts of a range, small enough that encoding one does not take much memory.
    static func parts(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: 100_000).map { $0..<min($0 + 100_000, count) }
    }
}
