import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Pages after cursors, while items are removed and added, compared with the history of all items.
@Suite("A cursor, after removals and additions,")
struct QueryCursorHistoryTests {

    private struct Item: Codable, Equatable { var rank: Int }

    /// All items that ever existed, in insertion order.
    private struct History {
        struct Event {
            var key: CacheKey
            var rank: Int
            var exists = true
        }

        var events: [Event] = []
        /// The place of the last item that was delivered.
        var delivered: (rank: Int, number: Int)?

        mutating func apply(_ operations: [StorageOperation]) throws {
            for operation in operations {
                switch operation {
                case .write(let key, let data):
                    let rank = try JSONDecoder().decode(Item.self, from: data).rank
                    events.append(Event(key: key, rank: rank))
                case .remove(let key):
                    for index in events.indices where events[index].key == key { events[index].exists = false }
                case .removeAll:
                    for index in events.indices { events[index].exists = false }
                }
            }
        }

        /// What a page must have, and the place of its last item.
        func page(_ limit: Int, isSorted: Bool) -> (keys: [CacheKey], last: (rank: Int, number: Int)?) {
            let rest = events.enumerated().filter { $0.element.exists }
                .map { (place: (rank: isSorted ? $0.element.rank : 0, number: $0.offset), key: $0.element.key) }
                .filter { item in delivered.map { item.place > $0 } ?? true }
                .sorted { $0.place < $1.place }
                .prefix(limit)
            return (rest.map(\.key), rest.last?.place)
        }
    }

    /// Removes some items, often the last ones, and adds others.
    private func operations(
        _ history: History, _ next: inout Int, using random: inout SeededGenerator
    ) throws -> [StorageOperation] {
        var operations: [StorageOperation] = []
        var existing = history.events.filter(\.exists).map(\.key)
        if Int.random(in: 0..<8, using: &random) == 0 {
            operations.append(.removeAll)
            existing = []
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                // Sometimes under the key of a removed item.
                let old = history.events.map(\.key).filter { !existing.contains($0) }.randomElement(using: &random)
                let isOld = Bool.random(using: &random)
                let key = isOld ? old ?? CacheKey("\(next)") : CacheKey("\(next)")
                next += 1
                if existing.contains(key) { continue }
                let item = Item(rank: Int.random(in: 0..<3, using: &random))
                operations.append(.write(key: key, data: try JSONEncoder().encode(item)))
                existing.append(key)
            case 2:
                guard let last = existing.popLast() else { continue }
                operations.append(.remove(key: last))
            default:
                guard !existing.isEmpty else { continue }
                let index = Int.random(in: 0..<existing.count, using: &random)
                operations.append(.remove(key: existing.remove(at: index)))
            }
        }
        return operations
    }

    @Test(
        "continues with each item that comes after it, and with no other", arguments: ["memory", "sqlite", "indexed"])
    func pages(kind: String) async throws {
        let seed = Seed.current
        var random = SeededGenerator(seed: seed)
        for isSorted in [false, true] {
            for round in 0..<6 {
                let folder = TemporaryFolder()
                let file = folder.file("data.sqlite3")
                // Two that write to one file, as two processes do.
                let engines: [any StorageEngine] =
                    kind == "memory"
                    ? [MemoryStorageEngine()]
                    : try (0..<2).map { _ in try SQLiteStorageEngine(openingFile: file, durability: .relaxed) }
                if kind == "indexed", let engine = engines[0] as? SQLiteStorageEngine {
                    try await engine.createIndex(StorageIndex("rank"))
                }
                let query = isSorted ? Query<Item>(sortedBy: SortDescriptor(\.rank)) : Query<Item>()
                var (history, next, cursor) = (History(), 0, QueryCursor?.none)
                for step in 0..<40 {
                    let operations = try operations(history, &next, using: &random)
                    let engine = engines.randomElement(using: &random) ?? engines[0]
                    try await engine.apply(operations)
                    try history.apply(operations)
                    let limit = Int.random(in: 1...4, using: &random)
                    let storage = ObjectStorage<Item>(storage: engines.randomElement(using: &random) ?? engines[0])
                    let page = try await storage.fetch(query, limit: limit, after: cursor)
                    let expected = history.page(limit, isSorted: isSorted)
                    #expect(
                        page.objectsAndKeys.map(\.key) == expected.keys,
                        "seed \(seed), \(kind), sorted: \(isSorted), round \(round), step \(step)")
                    // The cursor of a page without another one is where it began.
                    if let place = expected.last, let new = page.next {
                        (history.delivered, cursor) = (place, new)
                    }
                }
                // Each item is in its place once.
                let all = history.events.enumerated().filter { $0.element.exists }
                let sorted = all.sorted {
                    isSorted
                        ? ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) : $0.offset < $1.offset
                }
                let found = try await ObjectStorage<Item>(storage: engines[0]).fetch(query).objectsAndKeys.map(\.key)
                #expect(found == sorted.map(\.element.key))
            }
        }
    }

    @Test("finds items that were added after the last ones of a table were removed", arguments: 1...6)
    func removedEnd(count: Int) async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("data.sqlite3"))
        let storage = ObjectStorage<Item>(storage: engine)
        for number in 1...6 { try await storage.store(Item(rank: 0), forKey: CacheKey("\(number)")) }
        let cursor = try #require(try await storage.fetch(Query(), limit: 5).next)
        for number in (7 - count)...6 { try await storage.removeObject(forKey: CacheKey("\(number)")) }
        try await engine.close()
        // Also after the file was closed.
        let again = ObjectStorage<Item>(
            storage: try SQLiteStorageEngine(openingFile: folder.file("data.sqlite3")))
        for number in 7...9 { try await again.store(Item(rank: 0), forKey: CacheKey("\(number)")) }
        let rest = try await again.fetch(Query(), after: cursor)
        #expect(rest.objectsAndKeys.map(\.key) == (7...9).map { CacheKey("\($0)") })
    }

    @Test("costs nothing once other items follow the removed ones: the note about them is gone")
    func note() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let engine = try SQLiteStorageEngine(openingFile: file)
        let keys = (1...5).map { CacheKey("\($0)") }
        func rows() async throws -> [Int64] {
            try await DatabaseQueue(path: file.path).read { try Int64.fetchAll($0, sql: "SELECT rowid FROM data") }
        }
        func notes() async throws -> [Int] {
            try await DatabaseQueue(path: file.path).read { db in
                try db.tableExists("emporium_rows") ? try Int.fetchAll(db, sql: "SELECT number FROM emporium_rows") : []
            }
        }
        try await engine.write(keys.map { ($0, Data()) })
        try await engine.remove(key: keys[0])
        #expect(try await notes() == [])
        try await engine.remove(key: keys[4])
        try await engine.remove(key: CacheKey("absent"))
        #expect(try await notes() == [5])
        try await engine.removeAllData()
        #expect(try await notes() == [5])
        try await engine.write(Data(), key: keys[0])
        #expect(try await notes() == [])
        #expect(try await rows() == [6])
        try await engine.apply([.remove(key: keys[0]), .write(key: keys[0], data: Data([1]))])
        #expect(try await rows() == [7])
        #expect(try await notes() == [])
        #expect(try await engine.integrityCheck() == [])
    }
}
