import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Values that a sort key represents less exactly than Swift does, or not at all.
@Suite("Values at the limits of sort keys") struct BorderlineOrderTests {

    private struct Measure: Queryable {
        var value: Double
        static let indexes = [Index("value", \Measure.value)]
    }

    private struct Count: Queryable {
        var n: Int
        static let indexes = [Index("n", \Count.n)]
    }

    private struct Event: Queryable {
        var date: Date
        static let indexes = [Index("date", \Event.date)]
    }

    /// An engine without an index, and one with that of the type.
    private func engines<Object: Queryable>(
        _ type: Object.Type, _ folder: TemporaryFolder
    ) async throws -> [(engine: any StorageEngine, isIndexed: Bool)] {
        let indexed = try SQLiteStorageEngine(openingFile: folder.file("indexed.sqlite3"), durability: .relaxed)
        for index in type.storageIndexes { try await indexed.createIndex(index) }
        return [(MemoryStorageEngine(), false), (indexed, true)]
    }

    @Test("NaN is the minimum and the maximum only if there is no other value")
    func notANumber() async throws {
        let folder = TemporaryFolder()
        for isText in [false, true] {
            let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            let coder = isText ? JSONObjectCoder(encoder: encoder, decoder: decoder) : JSONObjectCoder()
            for (number, (engine, _)) in try await engines(Measure.self, folder).enumerated() {
                let storage = ObjectStorage<Measure>(storage: engine, coder: coder)
                if !isText {
                    // The default coder does not store it.
                    await #expect(throws: StorageError.self) {
                        try await storage.store(Measure(value: .nan), forKey: CacheKey("nan"))
                    }
                    continue
                }
                #expect(try await storage.minimum(of: \.value) == nil)
                for name in ["a", "b"] { try await storage.store(Measure(value: .nan), forKey: CacheKey(name)) }
                // As `[Double.nan, .nan].min()`.
                #expect(try await storage.minimum(of: \.value)?.isNaN == true, "\(number)")
                #expect(try await storage.maximum(of: \.value)?.isNaN == true, "\(number)")
                for value in [-Double.infinity, 2, .infinity] {
                    try await storage.store(Measure(value: value), forKey: CacheKey("\(value)"))
                }
                #expect(try await storage.minimum(of: \.value) == -.infinity, "\(number)")
                #expect(try await storage.maximum(of: \.value) == .infinity, "\(number)")
            }
        }
    }

    /// Integers beyond 2^53, as other programs can write them.
    private static let integers = [
        "9007199254740994", "9007199254740993.0", "9007199254740992", "9007199254740995.0", "9007199254740993",
        "9007199254740991.0", "9.007199254740994e15", "9007199254740995", "-9007199254740993.0", "-9007199254740992",
        "1", "2.0",
    ]

    @Test("integers that are written with a fraction match as Swift's do, and have another order by an index only")
    func largeIntegers() async throws {
        let folder = TemporaryFolder()
        let records = Self.integers.enumerated().map { (CacheKey("\($0)"), Data(#"{"n":\#($1)}"#.utf8)) }
        let objects = try records.map { try JSONDecoder().decode(Count.self, from: $0.1).n }
        #expect(objects[1] == 9_007_199_254_740_993)
        for (engine, isIndexed) in try await engines(Count.self, folder) {
            try await engine.write(records)
            let storage = ObjectStorage<Count>(storage: engine)
            for value in Set(objects) {
                let predicates: [Predicate<Count>] = [
                    #Predicate { $0.n == value }, #Predicate { $0.n != value }, #Predicate { $0.n < value },
                    #Predicate { $0.n <= value }, #Predicate { $0.n > value }, #Predicate { $0.n >= value },
                ]
                for predicate in predicates {
                    let expected = try objects.filter { try predicate.evaluate(Count(n: $0)) }
                    let found = try await storage.fetch(Query(where: predicate)).objects.map(\.n)
                    #expect(found.sorted() == expected.sorted(), "\(predicate), indexed: \(isIndexed)")
                    #expect(try await storage.count(Query(where: predicate)) == expected.count)
                }
            }
            let sorted = try await storage.fetch(Query(sortedBy: SortDescriptor(\.n))).objects.map(\.n)
            // As documented: by an index, one with a fraction or an exponent counts as the nearest Double.
            let places = zip(Self.integers, objects).map { text, integer in
                (place: isIndexed && text.contains(".") ? Int(Double(integer)) : integer, integer: integer)
            }
            let expected = places.enumerated()
                .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(\.element.integer)
            #expect(sorted == expected, "indexed: \(isIndexed)")
            #expect(try await storage.minimum(of: \.n) == expected.first)
            #expect(try await storage.maximum(of: \.n) == expected.last)
        }
    }

    @Test("dates that are stored more finely than a Date match as Swift's do, and equal ones are in the stored order")
    func fineDates() async throws {
        let folder = TemporaryFolder()
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (.secondsSince1970, .secondsSince1970)
        // Near 1970, a Date has a resolution of about 1e-7 seconds.
        let texts = ["3e-9", "1e-9", "2e-9", "0", "1", "1e-9", "0.5"]
        let records = texts.enumerated().map { (CacheKey("\($0)"), Data(#"{"date":\#($1)}"#.utf8)) }
        let objects = try records.map { try decoder.decode(Event.self, from: $0.1).date }
        #expect(objects[0] == objects[3])
        for (engine, isIndexed) in try await engines(Event.self, folder) {
            try await engine.write(records)
            let storage = ObjectStorage<Event>(
                storage: engine, coder: JSONObjectCoder(encoder: encoder, decoder: decoder))
            for value in Set(objects) {
                let predicates: [Predicate<Event>] = [
                    #Predicate { $0.date == value }, #Predicate { $0.date < value }, #Predicate { $0.date <= value },
                    #Predicate { $0.date > value }, #Predicate { $0.date >= value }, #Predicate { $0.date != value },
                ]
                for predicate in predicates {
                    let expected = try objects.filter { try predicate.evaluate(Event(date: $0)) }
                    let found = try await storage.fetch(Query(where: predicate)).objects.map(\.date)
                    #expect(found.sorted() == expected.sorted(), "\(predicate), indexed: \(isIndexed)")
                    #expect(try await storage.count(Query(where: predicate)) == expected.count)
                }
            }
            let page = try await storage.fetch(Query(sortedBy: SortDescriptor(\.date)))
            // As documented, with and without the declared index.
            #expect(page.objects.map(\.date) == objects.sorted())
            let places = texts.enumerated().map { (number: Double($1) ?? 0, offset: $0) }
            let expected = places.sorted {
                (objects[$0.offset], $0.number, $0.offset) < (objects[$1.offset], $1.number, $1.offset)
            }
            #expect(page.objectsAndKeys.map(\.key) == expected.map { CacheKey("\($0.offset)") }, "\(isIndexed)")
        }
    }
}
