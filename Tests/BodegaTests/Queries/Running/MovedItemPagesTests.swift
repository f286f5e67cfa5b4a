import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Pages of a query that is sorted by two members and read by an index over both, while a writer moves items between
/// the reads of a page. The oracle is Swift's `sorted`.
@Suite struct MovedItemPagesTests {

    /// Calls a closure before each scan.
    private struct InterruptedEngine: ForwardingStorageEngine {
        let base: any StorageBackend
        let interrupt: @Sendable () async throws -> Void

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        func scan(
            _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
        ) async throws -> StorageAnswer<ScanOutcome> {
            try await interrupt()
            return try await base.scan(request, begin)
        }
    }

    private typealias Member = StorageIndex.Member

    private struct Item: Codable {
        let group: Int
        var number: Int?

        init(_ random: inout SeededGenerator) {
            group = Int.random(in: 0..<4, using: &random)
            let number = Int.random(in: 0..<10, using: &random)
            self.number = number == 9 ? nil : number
        }

        func write(_ key: Int) throws -> (key: CacheKey, data: Data) {
            (CacheKey(verbatim: "\(key)"), try JSONEncoder().encode(self))
        }
    }

    private static func query(descending: Bool) -> StorageQuery<Int> {
        StorageQuery(
            condition: .constant(true),
            order: [
                QueryTerm(path: "group", isDescending: descending), QueryTerm(path: "number", isDescending: false),
            ]
        ) { entry, receive in
            let item = try JSONDecoder().decode(Item.self, from: entry.data)
            receive(Int(entry.key.rawValue) ?? -1)
            return [.integer(Int64(item.group)), item.number.map { .integer(Int64($0)) } ?? .none]
        }
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `Items that stay in their places are on one page each`(inMemory: Bool, descending: Bool) async throws {
        let folder = TemporaryFolder()
        let base: any StorageBackend =
            inMemory
            ? MemoryStorageEngine() : try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed)
        var random = SeededGenerator(seed: Seed.current)
        let items = (0..<600).map { _ in Item(&random) }
        try await base.write(items.enumerated().map { try $1.write($0) })
        try await base.createIndex(StorageIndex(Member("group", isForText: false), Member("number", isForText: false)))
        let isBefore = { (left: Item, right: Item) in
            if left.group != right.group { return (left.group < right.group) != descending }
            return left.number ?? .max < right.number ?? .max
        }
        // Those with an even number stay.
        let expected = items.enumerated().filter { $0.offset.isMultiple(of: 2) }
            .sorted { isBefore($0.element, $1.element) || !isBefore($1.element, $0.element) && $0.offset < $1.offset }
            .map(\.offset)
        let moving = Locked(random)
        let engine = InterruptedEngine(base: base) {
            let writes = try moving.withLock { random in
                try (0..<30).map { _ in
                    try Item(&random).write(Int.random(in: 0..<300, using: &random) * 2 + 1)
                }
            }
            try await base.write(writes)
        }
        let reader = StorageReader(engine)
        for walk in 0..<15 {
            var found: [Int] = []
            var end: (place: QueryPlace, key: Int)?
            repeat {
                let page = try await Self.query(descending: descending).page(
                    from: reader, limit: 160, after: end?.place,
                    item: end.map { CacheKey(verbatim: "\($0.key)") })
                found += page.matches
                end = page.hasMore ? zip(page.places, page.matches).map { ($0, $1) }.last : nil
            } while end != nil
            let staying = found.filter { $0.isMultiple(of: 2) }
            #expect(staying == expected, "walk \(walk), EMPORIUM_SEED=\(Seed.current)")
        }
    }
}
