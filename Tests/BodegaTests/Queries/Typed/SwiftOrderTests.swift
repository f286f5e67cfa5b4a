import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// An object with a property of any type that has an order.
private struct Holder<Value: Codable & Comparable & Sendable>: Queryable, Sendable {
    var value: Value
    var maybe: Value?
    var number: Int

    static var indexes: [Index<Holder>] { [Index("value", \.value), Index("maybe", \.maybe)] }
}

private enum Level: String, Codable, Comparable, CaseIterable, Sendable {
    case low, medium, high

    static func < (left: Level, right: Level) -> Bool {
        let order: [Level] = [.low, .medium, .high]
        return (order.firstIndex(of: left) ?? 0) < (order.firstIndex(of: right) ?? 0)
    }
}

private enum Priority: Int, Codable, Comparable, Sendable {
    case late = 3, soon = 2, now = 1

    /// The most urgent one is the largest.
    static func < (left: Priority, right: Priority) -> Bool { left.rawValue > right.rawValue }
}

private struct Version: Codable, Comparable, Sendable {
    var parts: [Int]

    init(_ parts: Int...) { self.parts = parts }

    init(from decoder: any Decoder) throws {
        parts = try decoder.singleValueContainer().decode(String.self).split(separator: ".").compactMap { Int($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(parts.map { "\($0)" }.joined(separator: "."))
    }

    static func < (left: Version, right: Version) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }
}

/// A text with an order that ignores case.
private struct Name: RawRepresentable, Codable, Comparable, Sendable {
    var rawValue: String

    static func < (left: Name, right: Name) -> Bool { left.rawValue.lowercased() < right.rawValue.lowercased() }
}

/// The oracle is `sorted(using:)` of Swift's standard library and Foundation.
@Suite struct SwiftOrderTests {

    private func check<Value: Codable & Comparable & Sendable>(_ samples: [Value]) async throws {
        var random = SeededGenerator(seed: Seed.current)
        let values = (samples + samples + samples.prefix(3)).shuffled(using: &random)
        let holders = values.enumerated().map { number, value in
            Holder(value: value, maybe: number % 4 == 3 ? nil : values[(number * 7) % values.count], number: number)
        }
        let folder = TemporaryFolder()
        let indexed = try SQLiteStorageEngine(openingFile: folder.file("indexed.sqlite3"), durability: .relaxed)
        let engines: [(String, any StorageEngine)] = [
            ("memory", MemoryStorageEngine()), ("an index", indexed),
            ("no index", try SQLiteStorageEngine(openingFile: folder.file("plain.sqlite3"), durability: .relaxed)),
        ]
        for (name, engine) in engines {
            let storage = ObjectStorage<Holder<Value>>(storage: engine)
            if name == "no index" {
                // As if they existed, so that none is created.
                storage.indexCreation.begin({ [StorageIndex("none")] }) { _ in }
            } else if name == "an index" {
                try await storage.createIndexes()
                #expect(try await indexed.fetchIndexes().count == 2)
            }
            try await storage.store(holders.map { (CacheKey(verbatim: "\($0.number)"), $0) })
            // The values that the coder gives back.
            let stored = try await storage.fetchAllObjects().objects
            #expect(stored.count == holders.count)
            for order in [SortOrder.forward, .reverse] {
                let place = "\(Value.self), \(name), \(order)"
                let byValue = SortDescriptor(\Holder<Value>.value, order: order)
                let byMaybe = SortDescriptor(\Holder<Value>.maybe, order: order)
                let valueOrder = stored.sorted(using: byValue).map(\.number)
                let maybeOrder =
                    stored.filter { $0.maybe != nil }.sorted(using: byMaybe).map(\.number)
                    + stored.filter { $0.maybe == nil }.map(\.number)
                for (descriptor, expected) in [(byValue, valueOrder), (byMaybe, maybeOrder)] {
                    let query = Query<Holder<Value>>(sortedBy: descriptor)
                    #expect(try await storage.fetch(query).objects.map(\.number) == expected, "\(place)")
                    #expect(try await storage.first(query)?.object.number == expected.first, "\(place)")
                    #expect(try await pages(of: query, in: storage) == expected, "pages, \(place)")
                }
            }
            let (minimum, maximum) = (
                try await storage.minimum(of: \.value), try await storage.maximum(of: \.value)
            )
            #expect(
                minimum == stored.map(\.value).min() && maximum == stored.map(\.value).max(), "\(Value.self), \(name)")
        }
    }

    private func pages<Value>(
        of query: Query<Holder<Value>>, in storage: ObjectStorage<Holder<Value>>
    ) async throws -> [Int] {
        var numbers: [Int] = []
        var cursor: QueryCursor?
        repeat {
            let page = try await storage.fetch(query, limit: 3, after: cursor)
            numbers += page.objects.map(\.number)
            cursor = page.next
            #expect((cursor?.rawValue.utf8.count ?? 0) < 3_000)
        } while cursor != nil && numbers.count < 1_000
        return numbers
    }

    @Test func `Integers are in their own order`() async throws {
        try await check([0, 1, -1, 9_007_199_254_740_993, 9_007_199_254_740_992, .max, .min, .max - 1])
        try await check([0, 1, -1, .max, .min, 9_007_199_254_740_993] as [Int64])
        try await check([0, 1, -1, .max, .min] as [Int32])
        try await check([0, 1, -1, .max, .min] as [Int16])
        try await check([0, 1, -1, .max, .min] as [Int8])
        let large: [UInt64] = [
            18_446_744_073_709_551_614, 18_446_744_073_709_551_615, 18_446_744_073_709_551_613, 0, 1,
            9_223_372_036_854_775_807, 9_223_372_036_854_775_808, 9_223_372_036_854_775_809,
        ]
        try await check(large)
        try await check(large.map { UInt($0) })
        try await check([0, 1, .max] as [UInt32])
        try await check([0, 1, .max] as [UInt16])
        try await check([0, 1, .max] as [UInt8])
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            try await check([0, 1, -1, .max, .max - 1, .min, .min + 1, 1 << 64, (1 << 64) + 1, -(1 << 90)] as [Int128])
            try await check([0, 1, .max, .max - 1, 1 << 64, (1 << 64) + 1, 1 << 127, (1 << 127) + 1] as [UInt128])
        }
    }

    @Test func `Other numbers are in their own order`() async throws {
        try await check([
            0.5, -0.0, 0, 1, 1e300, -1e300, .leastNonzeroMagnitude, 2.5, 0.1, 0.3, .greatestFiniteMagnitude, 0x1p63,
        ])
        try await check([0.5, -0.0, 0, 1, 16_777_216, 16_777_218, 0.1, 1e20, .greatestFiniteMagnitude] as [Float])
        try await check([0.5, -2, 1e10, 0.1] as [CGFloat])
        let decimals = [
            "27.27", "9.99", "0", "-5", "100", "12345678901234567890", "12345678901234567891", "0.1",
            "0.10000000000000000000001", "-12345678901234567890.5", "-12345678901234567890.4",
        ]
        try await check(decimals.compactMap { Decimal(string: $0) })
    }

    @Test func `Integers beyond the digits of a Double are equal in the order of a Double`() async throws {
        let numbers = [
            "9007199254740993", "9007199254740992", "-9007199254740993", "-9007199254740992", "9223372036854775807",
            "9223372036854775808", "9223372036854775000", "1", "-9223372036854775807", "-9223372036854775808", "1e300",
        ]
        let values = numbers.compactMap { Double($0) }
        let folder = TemporaryFolder()
        let indexed = try SQLiteStorageEngine(openingFile: folder.file("indexed.sqlite3"), durability: .relaxed)
        for engine in [MemoryStorageEngine(), indexed] as [any StorageEngine] {
            let storage = ObjectStorage<Holder<Double>>(storage: engine, coder: JSONObjectCoder())
            try await storage.createIndexes()
            try await engine.write(
                numbers.enumerated().map {
                    (CacheKey(verbatim: "\($0)"), Data("{\"value\":\($1),\"number\":\($0)}".utf8))
                })
            for order in [SortOrder.forward, .reverse] {
                let query = Query<Holder<Double>>(sortedBy: SortDescriptor(\.value, order: order))
                let expected = values.indices.sorted {
                    let (left, right) = (values[$0], values[$1])
                    return left == right ? $0 < $1 : order == .forward ? left < right : left > right
                }
                #expect(try await storage.fetch(query).objects.map(\.number) == expected)
                #expect(try await pages(of: query, in: storage) == expected)
            }
        }
    }

    @Test func `Times are in their own order`() async throws {
        let second = Duration.seconds(1)
        try await check(
            [
                .zero, second, .seconds(-1), .seconds(9), .seconds(10), .nanoseconds(1), .milliseconds(1500),
                Duration(secondsComponent: 5, attosecondsComponent: 1),
                Duration(secondsComponent: 5, attosecondsComponent: 2),
            ])
        let now = ContinuousClock.now
        try await check([now, now + .seconds(1), now - .seconds(100), now + .nanoseconds(1), now + .seconds(9_000)])
        try await check(
            [0, 1, -1, 0.5, 1e9, -1e9, 7e8 + 0.123456, 7e8.nextUp].map { Date(timeIntervalSinceReferenceDate: $0) })
    }

    @Test func `Texts and identifiers are in their own order`() async throws {
        // Of these and "e" with an accent, Swift 6.3 finds none smaller: a sort with them has no certain result.
        let uncertain = ["\u{E9}a", "e\u{301}a"]
        try await check(TypedSamples.texts.filter { !uncertain.contains($0) })
        try await check(
            (0..<8).map { UUID(uuid: ($0 &* 37, 255 &- $0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) })
    }

    @Test func `Types with an order of their own are in that order`() async throws {
        try await check(Level.allCases)
        try await check([Priority.soon, .now, .late])
        try await check([Version(1, 10), Version(1, 9), Version(2), Version(1, 9, 1), Version(0, 100)])
        try await check(["b", "A", "a", "C", "B", "\u{E9}", "E\u{301}"].map(Name.init))
    }

    @Test func `A filter and the order of a query agree about a type's order`() async throws {
        let storage = ObjectStorage<Holder<Level>>(storage: MemoryStorageEngine())
        let levels: [Level] = [.high, .low, .medium, .low, .high]
        let holders = levels.enumerated().map { Holder(value: $1, maybe: nil, number: $0) }
        try await storage.store(holders.map { (CacheKey(verbatim: "\($0.number)"), $0) })
        let medium = Level.medium
        let query = Query<Holder<Level>>(
            where: #Predicate { $0.value >= medium }, sortedBy: SortDescriptor(\.value, order: .reverse))
        #expect(try await storage.fetch(query).objects.map(\.number) == [0, 4, 2])
        #expect(try await storage.maximum(of: \.value) == .high)
    }

    @Test func `A page after an item with a long text begins there, or fails if the item is gone`() async throws {
        let folder = TemporaryFolder()
        for engine in [
            MemoryStorageEngine(), try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed),
        ] as [any StorageEngine] {
            let storage = ObjectStorage<Holder<String>>(storage: engine)
            try await storage.createIndexes()
            let start = String(repeating: "x", count: 100_000)
            for number in 0..<6 {
                let holder = Holder(value: start + "\(5 - number)", maybe: nil, number: number)
                try await storage.store(holder, forKey: CacheKey(verbatim: "\(number)"))
            }
            let query = Query<Holder<String>>(sortedBy: SortDescriptor(\.value))
            let page = try await storage.fetch(query, limit: 2)
            let cursor = try #require(page.next)
            #expect(cursor.rawValue.utf8.count < 100)
            #expect(page.objects.map(\.number) == [5, 4])
            let next = try await storage.fetch(query, limit: 3, after: cursor)
            #expect(next.objects.map(\.number) == [3, 2, 1])
            try await storage.removeObject(forKey: CacheKey(verbatim: "4"))
            let error = await #expect(throws: StorageError.self) { try await storage.fetch(query, after: cursor) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func `A short value that Swift compares is in the cursor, so its item may go`() async throws {
        let storage = ObjectStorage<Holder<Decimal>>(storage: MemoryStorageEngine())
        for number in 0..<6 {
            let value = Decimal(number) / 4
            try await storage.store(
                Holder(value: value, maybe: nil, number: number), forKey: CacheKey(verbatim: "\(number)"))
        }
        let query = Query<Holder<Decimal>>(sortedBy: SortDescriptor(\.value, order: .reverse))
        let page = try await storage.fetch(query, limit: 2)
        try await storage.removeObject(forKey: CacheKey(verbatim: "4"))
        #expect(try await storage.fetch(query, after: page.next).objects.map(\.number) == [3, 2, 1, 0])
    }
}
