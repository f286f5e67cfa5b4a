import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

private struct Chore: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var rank: Int
    var weight: Double
    var name: String
    var due: Date?

    static var indexes: [Index<Chore>] { [Index("rank", \.rank), Index("due", \.due)] }
}

/// Queries that are made of others, compared with Swift's `filter` and `sorted`.
@Suite struct QueryCompositionTests {
    private let folder = TemporaryFolder()
    private let items: [Chore]

    init() {
        var random = SeededGenerator(seed: Seed.current)
        print("composed queries: EMPORIUM_SEED=\(Seed.current)")
        items = (0..<300).map { id in
            Chore(
                id: id, rank: Int.random(in: 0..<10, using: &random), weight: Double.random(in: 0...1, using: &random),
                name: ["ada", "bob", "eve", "été"].randomElement(using: &random) ?? "",
                due: Bool.random(using: &random)
                    ? Date(timeIntervalSince1970: .random(in: 0..<1e9, using: &random)) : nil)
        }
    }

    private func storages() async throws -> [ObjectStorage<Chore>] {
        let engines: [any StorageEngine] = [
            MemoryStorageEngine(), try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed),
            try DiskStorageEngine(opening: TemporaryFolder().directory, durability: .relaxed),
            try SQLiteStorageEngine(opening: TemporaryFolder().directory, durability: .relaxed).prefixed("items"),
        ]
        var storages: [ObjectStorage<Chore>] = []
        for engine in engines {
            let storage = ObjectStorage<Chore>(storage: engine)
            try await storage.store(items.map { (CacheKey("\($0.id)"), $0) })
            try await storage.createIndexes()
            storages.append(storage)
        }
        return storages
    }

    @Test func `Filters of all forms narrow one another in any order`() async throws {
        var random = SeededGenerator(seed: Seed.current)
        for storage in try await storages() {
            for _ in 0..<12 {
                let (low, high) = (Int.random(in: 0..<10, using: &random), Int.random(in: 0..<10, using: &random))
                let name = ["ada", "eve", "été"].randomElement(using: &random) ?? ""
                let isText = Bool.random(using: &random)
                var query = isText ? try Query<Chore>(matching: "@.name != 'bob'") : Query<Chore>()
                var expected = isText ? items.filter { $0.name != "bob" } : items
                for step in (0..<3).shuffled(using: &random) where Bool.random(using: &random) {
                    switch step {
                    case 0:
                        query = query.filter(#Predicate { $0.rank >= low })
                        expected = expected.filter { $0.rank >= low }
                    case 1:
                        query = query.filter(#Predicate { $0.rank <= high && $0.due != nil })
                        expected = expected.filter { $0.rank <= high && $0.due != nil }
                    default:
                        query = query.filter(#Predicate { $0.name == name || $0.weight < 0.5 })
                        expected = expected.filter { $0.name == name || $0.weight < 0.5 }
                    }
                }
                let order = [SortDescriptor(\Chore.rank), SortDescriptor(\Chore.weight, order: .reverse)]
                expected.sort { ($0.rank, -$0.weight) < ($1.rank, -$1.weight) }
                let sorted = query.sorted(by: order)
                #expect(try await storage.fetch(sorted).objects == expected)
                #expect(try await storage.fetchKeys(sorted) == expected.map { CacheKey("\($0.id)") })
                #expect(
                    try await storage.fetchKeys(sorted, limit: 7) == expected.prefix(7).map { CacheKey("\($0.id)") })
                #expect(try await storage.count(query) == expected.count)
                #expect(try await storage.exists(query) == !expected.isEmpty)
                let (offset, limit) = (Int.random(in: 0..<320, using: &random), Int.random(in: 0..<50, using: &random))
                let part = try await storage.fetch(sorted, limit: limit, offset: offset).objects
                #expect(part == Array(expected.dropFirst(offset).prefix(limit)))
                #expect(try await storage.minimum(of: \.due, query) == expected.compactMap(\.due).min())
                #expect(try await storage.maximum(of: \.due, query) == expected.compactMap(\.due).max())
                #expect(try await storage.minimum(of: \.weight, query) == expected.map(\.weight).min())
                let ranks = expected.map(\.rank)
                let mean = ranks.isEmpty ? nil : Double(ranks.reduce(0, +)) / Double(ranks.count)
                #expect(try await storage.average(of: \.rank, query) == mean)
                let weight = try await storage.average(of: \.weight, query)
                let sum = expected.map(\.weight).reduce(0, +)
                #expect((weight == nil) == expected.isEmpty)
                if let weight { #expect(abs(weight - sum / Double(expected.count)) < 1e-9) }
            }
        }
    }

    @Test func `An order in an array is that of the descriptors one by one`() async throws {
        let order = [SortDescriptor(\Chore.name), SortDescriptor(\Chore.weight)]
        for storage in try await storages() {
            let first = try await storage.fetch(Query(sortedBy: order)).objects
            let second = try await storage.fetch(Query(sortedBy: order[0], order[1])).objects
            #expect(first == items.sorted { ($0.name, $0.weight) < ($1.name, $1.weight) })
            #expect(first == second)
            #expect(try await storage.fetch(Query<Chore>(sortedBy: [])).objects == items)
        }
    }

    @Test(arguments: [1, 2, 7, 300])
    func `Pages of an engine without positions of its own have each object once`(limit: Int) async throws {
        func disk() throws -> DiskStorageEngine {
            try DiskStorageEngine(opening: TemporaryFolder().directory, durability: .relaxed)
        }
        let objects = items.prefix(20)
        let (shared, filtered, copied, mirror) = (try disk(), try disk(), try disk(), MemoryStorageEngine())
        for chore in objects {
            let key = CacheKey("\(chore.id)")
            try await ObjectStorage(storage: shared.prefixed("others")).store(chore, forKey: key)
            try await ObjectStorage(storage: filtered).store(chore, forKey: key)
            try await ObjectStorage(storage: copied).store(chore, forKey: key)
        }
        for chore in objects {
            try await ObjectStorage(storage: shared.prefixed("items")).store(chore, forKey: CacheKey("\(chore.id)"))
        }
        for chore in objects.dropFirst(5).reversed() {
            try await ObjectStorage(storage: mirror).store(chore, forKey: CacheKey("\(chore.id)"))
        }
        let mirrored = copied.mirrored(to: mirror, readingMirror: .first)
        try await mirrored.refresh()
        let odd = try StorageScope(matching: "@.name != 'bob'")
        let engines: [(any StorageEngine, [Chore], isOrdered: Bool)] = [
            (shared.prefixed("items"), Array(objects), true),
            (filtered.scoped(to: odd), objects.filter { $0.name != "bob" }, true),
            (mirrored, Array(objects), false),
        ]
        for (engine, expected, isOrdered) in engines {
            let storage = ObjectStorage<Chore>(storage: engine)
            for isSorted in [false, true] {
                let query = isSorted ? Query(sortedBy: SortDescriptor(\Chore.name)) : Query()
                var (found, cursor) = ([Chore](), QueryCursor?.none)
                repeat {
                    let page = try await storage.fetch(query, limit: limit, after: cursor)
                    found += page.objects
                    cursor = page.next
                } while cursor != nil && found.count < 100
                #expect(found.map(\.id).sorted() == expected.map(\.id).sorted())
                guard isSorted else { continue }
                #expect(found.map(\.name) == expected.map(\.name).sorted())
                if isOrdered { #expect(found == expected.sorted { ($0.name, $0.id) < ($1.name, $1.id) }) }
            }
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `Pages go on when a mirror answers instead of its base, and back`(isSorted: Bool, isDown: Bool) async throws {
        let (base, mirror) = (MemoryStorageEngine(), MemoryStorageEngine())
        for number in 0..<3 { try await mirror.write(Data("{}".utf8), key: CacheKey("other \(number)")) }
        let objects = items.prefix(9)
        for chore in objects { try await ObjectStorage(storage: base).store(chore, forKey: CacheKey("\(chore.id)")) }
        let faulty = FaultInjectingStorageEngine(base)
        let mirrored = faulty.mirrored(to: mirror, pausing: .zero)
        try await mirrored.repair(comparingAll: true)
        let storage = ObjectStorage<Chore>(storage: mirrored)
        let query = isSorted ? Query(sortedBy: SortDescriptor(\Chore.name)) : Query()
        var (found, cursor, isDown) = ([Chore](), QueryCursor?.none, isDown)
        repeat {
            faulty.clearFaults()
            if isDown { faulty.inject(.fail(.all, with: StorageError(.unreachable, "There is no network."))) }
            let page = try await storage.fetch(query, limit: 2, after: cursor)
            found += page.objects
            cursor = page.next
            isDown.toggle()
        } while cursor != nil && found.count < 100
        #expect(found == (isSorted ? objects.sorted { ($0.name, $0.id) < ($1.name, $1.id) } : Array(objects)))
    }

    @Test func `Pages of an engine whose mirror loses items are those of the engine`() async throws {
        let mirrors: [any StorageBackend] = [
            MemoryStorageEngine().limited(count: 3), MemoryStorageEngine().expiring(after: .seconds(1_000)),
        ]
        for mirror in mirrors {
            let storage = ObjectStorage<Chore>(
                storage: MemoryStorageEngine().mirrored(to: mirror, readingMirror: .first))
            for chore in items.prefix(9) { try await storage.store(chore, forKey: CacheKey("\(chore.id)")) }
            var (found, cursor) = ([Int](), QueryCursor?.none)
            repeat {
                let page = try await storage.fetch(Query(), limit: 2, after: cursor)
                found += page.objects.map(\.id)
                cursor = page.next
            } while cursor != nil && found.count < 100
            #expect(found == Array(0..<9))
        }
    }
}
