#if Postgres
import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega
@testable import BodegaPostgres

/// Queries of random data by indexes of PostgreSQL, compared with queries of all items in memory.
@Suite(.timeLimit(.minutes(10)))
struct QueryPageTests {

    private static let values = [
        "null", "true", "false", "0", "1", "1.0", "-1", "2", "0.5", "9007199254740993", "9007199254740992", "1e300",
        "1e999",
        #""""#, #""a""#, #""b""#, #""é""#, #""e\#u{301}""#, #""\u0061""#, "[1]", "{}", "x",
    ]

    /// A condition on a member, and how an item is examined.
    private struct Case: Sendable {
        var path: String
        var keys: StorageSortKeyRanges
        var order: [StorageQuery<CacheKey>.Term]

        /// A condition by which engines narrow exactly, or from both sides.
        var condition: QueryCondition {
            .member(path: path, possible: keys, certain: keys, needsTextIndex: false)
        }

        var query: StorageQuery<CacheKey> {
            let (path, keys, order) = (path, keys, order)
            return StorageQuery(condition: condition, order: order) { entry in
                entry.data.withUnsafeBytes { bytes in
                    guard let document = JSONScanner.document(bytes) else { return .unwanted }
                    func key(_ path: String?) -> StorageSortKey {
                        StorageSortKey(bytes, path.flatMap { StorageIndex($0).query.find(in: bytes, document) })
                    }
                    return keys.contains(key(path)) ? .wanted(order.map { key($0.path) }, entry.key) : .unwanted
                }
            }
        }
    }

    private static func one<Value>(of values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    private static func bound(_ random: inout SeededGenerator) -> StorageSortKeyBound {
        let keys: [StorageSortKey] = [
            .integer(0), .integer(1), .integer(2), .real(0.5), .integer(9_007_199_254_740_993), .text(""), .text("a"),
            .text("b"), .text("é"), .none,
        ]
        let key = keys.randomElement(using: &random) ?? .none
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .start
        case 1: return .end
        case 2, 3: return key == .none ? .end : .after(key)
        default: return .before(key)
        }
    }

    private static func example(_ random: inout SeededGenerator) -> Case {
        var keys = StorageSortKeyRanges(bound(&random), bound(&random))
        if Bool.random(using: &random) { keys = keys.union(StorageSortKeyRanges(bound(&random), bound(&random))) }
        if keys.isEmpty || Int.random(in: 0..<4, using: &random) == 0 { keys = .all }
        var order: [StorageQuery<CacheKey>.Term] = []
        for _ in 0..<Self.one(of: [0, 1, 1, 1, 2], &random) {
            let path = ["a", "b", "c"].randomElement(using: &random)
            order.append(.init(path: path, isDescending: Bool.random(using: &random)))
        }
        return Case(path: Self.one(of: ["a", "b", "c"], &random), keys: keys, order: order)
    }

    /// All matches, in pages.
    private static func pages(
        _ query: StorageQuery<CacheKey>, of engine: any QueryableStorageEngine, limit: Int
    ) async throws -> [CacheKey] {
        var keys: [CacheKey] = []
        var place: QueryPlace?
        while true {
            let page = try await query.page(from: engine, limit: limit, after: place)
            keys += page.matches.map(\.match)
            guard page.hasMore, let last = page.matches.last else { return keys }
            place = last.place
        }
    }

    @Test func `Pages over indexes are those of all items in memory`() async throws {
        let seed = Seed.current
        print("pages over indexes: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(partitions: 2))
        try await engine.createIndex(StorageIndex("a", isForText: false))
        try await engine.createIndex(StorageIndex("b"))
        // Another collection must not appear.
        let other = try await engine.collection(named: "other")
        try await other.write(Data(#"{"a":1,"b":1}"#.utf8), key: CacheKey("other"))
        for _ in 0..<10 {
            let memory = MemoryStorageEngine()
            try await engine.removeAllData()
            // Some values are frequent, so that ties are longer than pages and batches.
            let some = (0..<3).map { _ in Self.one(of: Self.values, &random) }
            let count = Self.one(of: [20, 20, 60, 200], &random)
            let items = (0..<count).map { number in
                let members = ["a", "b", "c"].filter { _ in Int.random(in: 0..<8, using: &random) > 0 }.map { name in
                    let value = Self.one(of: Bool.random(using: &random) ? some : Self.values, &random)
                    return "\"\(name)\":\(value)"
                }
                return (key: CacheKey("\(number)"), data: Data("{\(members.joined(separator: ","))}".utf8))
            }
            try await engine.write(items)
            try await memory.write(items)
            for _ in 0..<25 {
                let example = Self.example(&random)
                let limit = Self.one(of: [3, 10, 50, 1_000, Int.max], &random)
                let found = try await Self.pages(example.query, of: engine, limit: count > 60 ? max(limit, 10) : limit)
                let expected = try await Self.pages(example.query, of: memory, limit: .max)
                #expect(found == expected, "\(example) limit \(limit)")
                #expect(try await example.query.count(in: engine) == expected.count, "\(example)")
            }
        }
    }

    @Test func `Ties that are longer than batches, and large items, come in insertion order`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(partitions: 3))
        let index = StorageIndex("a")
        try await engine.createIndex(index)
        let items = (0..<3_000).map { number in
            let large = number % 500 == 7 ? String(repeating: "x", count: 40_000) : ""
            let value = number % 100 == 1 ? "null" : "\(number % 1_000 < 900 ? 1 : number % 7)"
            return (key: CacheKey("\(number)"), data: Data(#"{"a":\#(value),"b":"\#(large)"}"#.utf8))
        }
        try await engine.write(items)
        let memory = MemoryStorageEngine()
        try await memory.write(items)
        for isDescending in [true, false] {
            let example = Case(path: "a", keys: .all, order: [.init(path: "a", isDescending: isDescending)])
            let expected = try await Self.pages(example.query, of: memory, limit: .max)
            for limit in [700, Int.max] {
                #expect(try await Self.pages(example.query, of: engine, limit: limit) == expected)
            }
        }
        let all = Locked<[StorageEntry]>([])
        try await engine.scan([.all(after: nil)]) {
            { _, entry in
                all.withLock { $0.append(entry) }
                return true
            }
        }
        let entries = all.withLock { $0 }
        #expect(entries.map(\.key) == items.map(\.key))
        #expect(entries.map(\.data) == items.map(\.data))
        // The place in each scan counts.
        let middle = entries[1_500].place.position
        #expect(try await engine.count(.all(after: middle), upTo: .max) == 1_499)
        #expect(try await engine.count(.all(after: nil), upTo: 10) == 10)
        for isDescending in [true, false] {
            let place = try #require(try await engine.fetchEntries(keys: [items[1_500].key], index: index).first?.place)
            let scan = StorageScan.range(
                index, from: .start, to: .before(.none), isDescending: isDescending, after: place)
            let received = Locked(0)
            try await engine.scan([scan]) {
                { _, _ in
                    received.withLock { $0 += 1 }
                    return true
                }
            }
            #expect(try await engine.count(scan, upTo: .max) == received.withLock { $0 })
        }
    }
}
#endif
