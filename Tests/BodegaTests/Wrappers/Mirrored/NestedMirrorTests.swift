import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Mirrors that consist of mirrors, compared with an array.
@Suite struct NestedMirrorTests {
    private struct Item: Codable, Sendable, Equatable {
        var number: Int
    }

    private typealias Faulty = FaultInjectingStorageEngine

    /// Mirrors of a random shape, whose items have other positions in each of the engines.
    private struct Tree {
        var generator: SeededGenerator
        var leaves: [Faulty] = []
        let clock = InstantClock()

        mutating func make(depth: Int) async throws -> any StorageBackend {
            if depth == 0 || (!leaves.isEmpty && Int.random(in: 0..<5, using: &generator) == 0) {
                let memory = MemoryStorageEngine()
                let count = Int.random(in: 0..<20, using: &generator)
                for number in 0..<count { try await memory.write(Data(), key: CacheKey(verbatim: "\(number)")) }
                try await memory.remove(keys: (0..<count).map { CacheKey(verbatim: "\($0)") })
                leaves.append(Faulty(memory))
                return leaves[leaves.count - 1].prefixed("items/")
            }
            let base = try await make(depth: depth - 1)
            let mirror = try await make(depth: depth - 1)
            let reading: MirrorReading = Bool.random(using: &generator) ? .first : .whenBaseFails
            return base.mirrored(to: mirror, readingMirror: reading, clock: clock)
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `Pages have each item once, whichever engines answer`(_ depth: Int) async throws {
        for round in 0..<TestSizes.nestings {
            try await check(depth, seed: Seed.current &+ UInt64(round))
        }
    }

    /// Reads all pages while random engines fail.
    private func check(_ depth: Int, seed: UInt64) async throws {
        var tree = Tree(generator: SeededGenerator(seed: seed))
        let engine = try await tree.make(depth: depth + 1)
        let storage = ObjectStorage<Item>(storage: engine)
        var expected: [String] = []
        for number in 0..<Int.random(in: 10..<40, using: &tree.generator) {
            let key = "\(Int.random(in: 0..<1_000, using: &tree.generator))-\(number)"
            try await storage.store(Item(number: number), forKey: CacheKey(verbatim: key))
            expected.append(key)
        }
        let isSorted = Bool.random(using: &tree.generator)
        let query = isSorted ? Query<Item>(sortedBy: SortDescriptor(\.number)) : Query<Item>()
        var (found, cursor) = ([String](), QueryCursor?.none)
        repeat {
            for leaf in tree.leaves where Int.random(in: 0..<3, using: &tree.generator) == 0 {
                leaf.inject(.fail([.fetch, .scan], with: StorageError(.unreachable, "It is gone.")))
            }
            let limit = Int.random(in: 1...5, using: &tree.generator)
            do {
                let page = try await storage.fetch(query, limit: limit, after: cursor)
                found += page.objectsAndKeys.map(\.key.rawValue)
                cursor = page.next
            } catch let error as StorageError where error.code == .unreachable {
                for leaf in tree.leaves { leaf.clearFaults() }
                tree.clock.advance(by: .seconds(10))
                let page = try await storage.fetch(query, limit: limit, after: cursor)
                found += page.objectsAndKeys.map(\.key.rawValue)
                cursor = page.next
            }
            for leaf in tree.leaves { leaf.clearFaults() }
            if Bool.random(using: &tree.generator) { tree.clock.advance(by: .seconds(10)) }
        } while cursor != nil
        #expect(found == expected, "depth \(depth), seed \(seed)")
    }

    @Test(arguments: [9, 10])
    func `A base answers where mirrors are too deep`(_ depth: Int) async throws {
        var engine: any StorageBackend = MemoryStorageEngine()
        for _ in 0..<depth { engine = MemoryStorageEngine().mirrored(to: engine, readingMirror: .first) }
        let storage = ObjectStorage<Item>(storage: engine)
        for number in 0..<5 { try await storage.store(Item(number: number), forKey: CacheKey(verbatim: "\(number)")) }
        let first = try await storage.fetch(Query(), limit: 2)
        let rest = try await storage.fetch(Query(), after: first.next)
        #expect((first.objects + rest.objects).map(\.number) == Array(0..<5))
    }
}
