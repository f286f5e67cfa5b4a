import Bodega
import Foundation
import TestSupport
import Testing

/// Indexes in memory. The right results come from an array, which is filtered and sorted.
@Suite("An index in memory")
struct MemoryIndexTests {

    private struct Model {
        struct Item {
            let key: CacheKey
            let group: Int
            /// `nil` for an item without a value.
            let rank: Int?
            let isJSON: Bool

            var data: Data {
                if !isJSON { return Data("{\"group\":\(group),".utf8) }
                return Data("{\"group\":\(group),\"rank\":\(rank.map { "\($0)" } ?? "null")}".utf8)
            }
        }

        /// In insertion order.
        var items: [Item] = []

        mutating func write(_ item: Item) {
            if let index = items.firstIndex(where: { $0.key == item.key }) {
                items[index] = item
            } else {
                items.append(item)
            }
        }

        /// The items with a group, or in all of them, whose ranks are in a range, in order.
        func items(_ group: Int?, in range: Range<Int>, isDescending: Bool) -> [CacheKey] {
            items.enumerated()
                .filter { $0.element.isJSON && (group == nil || $0.element.group == group) }
                .filter { $0.element.rank.map(range.contains) ?? false }
                .sorted { left, right in
                    let (one, other) = (left.element.rank ?? 0, right.element.rank ?? 0)
                    return one == other ? left.offset < right.offset : isDescending ? one > other : one < other
                }.map(\.element.key)
        }
    }

    private static let rank = StorageIndex("rank", isForText: false)
    private static let compound = StorageIndex(StorageIndex.Member("group"), StorageIndex.Member("rank"))

    private func entries(_ engine: MemoryStorageEngine, _ scan: StorageScan) async throws -> [StorageItem] {
        let found = Locked<[StorageItem]>([])
        try await engine.scan([scan]) {
            { _, item in
                found.withLock { $0.append(item) }
                return true
            }
        }
        return found.withLock { $0 }
    }

    private func check(
        _ engine: MemoryStorageEngine, _ model: Model, _ samples: inout ModelSamples, _ comment: Comment
    ) async throws {
        for _ in 0..<4 {
            let lower = samples.pick(Array(-3...60))
            let range = lower..<lower + samples.pick([0, 1, 2, 20, 100])
            let isDescending = samples.chance(50)
            let group = samples.chance(50) ? samples.pick([0, 1, 2, 9]) : nil
            func scan(after place: StoragePlace? = nil) -> StorageScan {
                let equal = group.map { [StorageSortKey.integer(Int64($0))] } ?? []
                return .range(
                    group == nil ? Self.rank : Self.compound, equal: equal,
                    from: .before(.integer(Int64(range.lowerBound))), to: .before(.integer(Int64(range.upperBound))),
                    isDescending: isDescending, after: place)
            }
            let expected = model.items(group, in: range, isDescending: isDescending)
            let found = try await entries(engine, scan())
            #expect(found.map(\.key) == expected, comment)
            #expect(try await engine.count(scan(), upTo: .max) == expected.count, comment)
            guard !found.isEmpty else { continue }
            let offset = samples.pick(Array(found.indices))
            let rest = try await entries(engine, scan(after: found[offset].place)).map(\.key)
            #expect(rest == Array(expected[(offset + 1)...]), comment)
            #expect(try await engine.count(scan(after: found[offset].place), upTo: .max) == rest.count, comment)
        }
        let none = StorageScan.range(Self.rank, from: .before(.none), to: .end, isDescending: true, after: nil)
        let withoutRank = model.items.filter { $0.isJSON && $0.rank == nil }.map(\.key)
        #expect(try await entries(engine, none).map(\.key) == withoutRank, comment)
        for index in [Self.rank, Self.compound] {
            let irregular = try await entries(engine, .irregular(index))
            #expect(irregular.map(\.key) == model.items.filter { !$0.isJSON }.map(\.key), comment)
        }
    }

    @Test("has the items in order through random changes", arguments: [50, 1_000])
    func order(size: Int) async throws {
        let comment: Comment = "EMPORIUM_SEED=\(Seed.current)"
        var samples = ModelSamples(seed: Seed.current)
        let engine = MemoryStorageEngine()
        var model = Model()
        var isIndexed = false
        func item() -> Model.Item {
            let number = samples.pick(Array(0..<size))
            // Many equal keys, which fill several chunks, and some that are rare.
            let rank = samples.chance(5) ? nil : samples.chance(50) ? samples.pick([7, 8]) : number % 61
            return Model.Item(
                key: CacheKey(verbatim: "\(number)"), group: number % 3, rank: rank, isJSON: !samples.chance(5))
        }
        for round in 0..<12 {
            var operations: [StorageOperation] = []
            if round == 7 {
                operations.append(.removeAll)
                model.items = []
            }
            for _ in 0..<size / 3 {
                // Later rounds remove more than they write.
                let item = item()
                if samples.chance(round % 6 > 3 ? 85 : 20) {
                    operations.append(.remove(key: item.key))
                    model.items.removeAll { $0.key == item.key }
                } else {
                    operations.append(.write(key: item.key, data: item.data))
                    model.write(item)
                }
            }
            _ = try await engine.apply(StorageBatch(operations))
            if round > 2, !isIndexed {
                for index in [Self.rank, Self.compound] { try await engine.createIndex(index) }
                isIndexed = true
            }
            // Before they are created, a temporary index answers.
            try await check(engine, model, &samples, comment)
        }
        #expect(try await engine.fetchIndexes() == [Self.rank, Self.compound])
    }

    @Test("has ascending, descending and equal keys, and none when all are removed", arguments: [-1, 0, 1])
    func bulk(direction: Int) async throws {
        let engine = MemoryStorageEngine()
        try await engine.createIndex(Self.rank)
        let ranks = (0..<1_000).map { $0 * direction }
        let items = ranks.enumerated().map { (CacheKey(verbatim: "\($0)"), Data("{\"rank\":\($1)}".utf8)) }
        try await engine.write(items)
        let all = StorageScan.range(Self.rank, from: .start, to: .before(.none), isDescending: false, after: nil)
        let expected = ranks.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        #expect(try await entries(engine, all).map(\.key) == expected.map { CacheKey(verbatim: "\($0.offset)") })
        for (number, item) in items.enumerated() {
            try await engine.remove(key: item.0)
            if number % 250 == 3 { #expect(try await engine.count(all, upTo: .max) == 999 - number) }
        }
        #expect(try await entries(engine, all) == [])
    }

    /// Values, and whether an index and an index for text know them.
    static let values: [(value: String, isKnown: Bool, isKnownForText: Bool)] = [
        ("1", true, true), ("true", true, true), ("null", true, true), ("0.5", true, true), ("1e1", true, true),
        ("9223372036854775807", true, true), ("1e300", true, true), ("12345678901234.0", true, true),
        // Rounded to 2^53, or possibly to an integer.
        ("9007199254740993.0", false, false), ("1.00000000000000000001", false, false), ("1e17", false, false),
        ("\"plain\"", true, true), ("\"\u{E9}\"", true, true), ("\"\\u00e9\"", true, true),
        ("\"e\u{301}\"", true, false), ("\"\\u0065\\u0301\"", true, false), ("\"\\uD83D\"", false, false),
        ("\"\\u0000\"", true, false), ("[1, 2]", true, true),
        ("\"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6\"", true, true),
        ("\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", true, true),
        ("\"F81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", true, false),
        ("\"A sentence of thirty-six characters.\"", true, true),
        ("tru", false, false),
    ]

    @Test("knows the values that Swift compares exactly", arguments: values)
    func irregular(value: String, isKnown: Bool, isKnownForText: Bool) async throws {
        for (isForText, expected) in [(false, isKnown), (true, isKnownForText)] {
            let engine = MemoryStorageEngine()
            let first = StorageIndex("v", isForText: isForText)
            let second = StorageIndex(StorageIndex.Member("other"), StorageIndex.Member("v", isForText: isForText))
            try await engine.createIndex(first)
            try await engine.write(Data("{\"v\":\(value),\"other\":1}".utf8), key: CacheKey("a"))
            for index in [first, second] {
                let count = try await engine.count(.irregular(index), upTo: .max)
                #expect(count == (expected ? 0 : 1), "\(value) in \(index), for text: \(isForText)")
            }
        }
    }

    @Test("is at a moment as it was, with its items")
    func moment() async throws {
        let engine = MemoryStorageEngine()
        try await engine.createIndex(Self.rank)
        try await engine.write(Data("{\"rank\":1}".utf8), key: CacheKey("a"))
        try await engine.write(Data("{\"rank\":2}".utf8), key: CacheKey("b"))
        let all = StorageScan.range(Self.rank, from: .start, to: .end, isDescending: false, after: nil)
        let values = StorageScan.range(
            Self.rank, from: .start, to: .before(.none), isDescending: false, after: nil)
        try await engine.database?.atOneMoment {
            try await Task.detached {
                try await engine.write(Data("{\"rank\":0}".utf8), key: CacheKey("b"))
                try await engine.remove(key: CacheKey("a"))
                try await engine.removeIndex(Self.rank)
            }.value
            #expect(try await entries(engine, values).map(\.data) == [1, 2].map { Data("{\"rank\":\($0)}".utf8) })
            #expect(try await engine.fetchIndexes() == [Self.rank])
        }
        #expect(try await entries(engine, values).map(\.data) == [Data("{\"rank\":0}".utf8)])
        #expect(try await entries(engine, all) == [])
        #expect(try await engine.fetchIndexes() == [])
    }

    @Test("refuses what has no order")
    func refusal() async throws {
        let engine = MemoryStorageEngine()
        try await engine.createIndex(Self.compound)
        let place = StoragePlace(sortKey: .integer(1), position: 0)
        let (one, start) = (StorageSortKey.integer(1), StorageSortKeyBound.start)
        let scans: [StorageScan] = [
            .range(Self.compound, equal: [], from: start, to: .end, isDescending: false, after: place),
            .range(Self.compound, equal: [one, one], from: start, to: .end, isDescending: false, after: nil),
            .range(
                Self.compound, equal: [one], from: start, to: .end, isDescending: false,
                after: StoragePlace(position: 0)),
        ]
        for scan in scans {
            await #expect(throws: StorageError.self) { try await entries(engine, scan) }
            await #expect(throws: StorageError.self) { try await engine.count(scan, upTo: 1) }
        }
    }
}
