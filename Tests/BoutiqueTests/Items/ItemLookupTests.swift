import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// Look-ups of a store by a property. The right results come from filters of arrays.
@MainActor
@Suite("Look-ups by a property")
struct ItemLookupTests {

    /// An item that counts how often its property is read.
    struct Leaf: Codable, Sendable, Equatable, Identifiable {
        var id: Int
        var stem: Int?
        var marks: [String] = []
        var width = 0.0

        static let reads = Locked(0)

        var countedStem: Int? {
            Self.reads.withLock { $0 += 1 }
            return stem
        }

        static func takeReads() -> Int {
            reads.withLock { reads in
                defer { reads = 0 }
                return reads
            }
        }
    }

    @Test("Any changes, of this store and of others, leave the items that a filter finds")
    func random() async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        func leaf() -> Leaf {
            Leaf(
                id: .random(in: 0..<60, using: &random), stem: [nil, 0, 1, 2].randomElement(using: &random)!,
                marks: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    ["", "a", "\u{E9}", "e\u{301}"].randomElement(using: &random)!
                }, width: [0, -0.0, .nan, 1.5].randomElement(using: &random)!)
        }
        // NaN is no JSON, so the width is stored in another form.
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "i", negativeInfinity: "-i", nan: "n")
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "i", negativeInfinity: "-i", nan: "n")
        let coder = JSONObjectCoder(encoder: encoder, decoder: decoder)
        let engine = MemoryStorageEngine()
        let store = try await Store<Leaf>(storage: engine, coder: coder)
        let other = try await Store<Leaf>(storage: engine, coder: coder)
        for round in 0..<400 {
            let writer = Bool.random(using: &random) ? store : other
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try await writer.removeAll()
            case 1: try await store.reload()
            case 2..<7: try await writer.remove((0..<3).map { _ in leaf() })
            case 7:
                let (old, new) = (leaf(), leaf())
                try await store.transaction { transaction in
                    transaction.remove(id: old.id)
                    transaction.insert(new)
                    #expect(transaction.items.contains { $0.id == new.id })
                }
            default: try await writer.insert((0..<Int.random(in: 1...5, using: &random)).map { _ in leaf() })
            }
            for stem in [nil, 0, 1, 2, 3] {
                let found = store.items(where: \.stem, equals: stem).map(\.id)
                #expect(found == store.items.filter { $0.stem == stem }.map(\.id), "seed \(seed), round \(round)")
            }
            for mark in ["", "a", "\u{E9}", "z"] {
                let found = store.items(where: \.marks, contains: mark).map(\.id)
                #expect(
                    found == store.items.filter { $0.marks.contains(mark) }.map(\.id), "seed \(seed), round \(round)")
            }
            for width in [0, .nan, 1.5] {
                let found = store.items(where: \.width, equals: width).map(\.id)
                #expect(found == store.items.filter { $0.width == width }.map(\.id), "seed \(seed), round \(round)")
            }
        }
    }

    @Test("After the first look-up, changes read the property of the changed items only, at 100,000 items")
    func cost() async throws {
        let store = try await Store<Leaf>(storage: MemoryStorageEngine())
        try await store.insert((0..<100_000).map { Leaf(id: $0, stem: $0 % 10_000) })
        _ = Leaf.takeReads()
        #expect(store.items(where: \.countedStem, equals: 7).map(\.id) == (0..<10).map { 10_000 * $0 + 7 })
        #expect(Leaf.takeReads() == 100_000)
        for stem in 0..<1_000 { #expect(store.items(where: \.countedStem, equals: stem).count == 10) }
        #expect(store.items(where: \.countedStem, equals: nil) == [])
        #expect(Leaf.takeReads() == 0)

        // A new item, one that moves, one that stays, and one that goes.
        try await store.insert(Leaf(id: 200_000, stem: 7))
        #expect(Leaf.takeReads() == 1)
        try await store.insert(Leaf(id: 7, stem: 8))
        #expect(Leaf.takeReads() == 2)
        try await store.update(id: 8) { $0.marks = ["x"] }
        #expect(Leaf.takeReads() == 2)
        try await store.remove(id: 10_007)
        #expect(Leaf.takeReads() == 1)
        #expect(store.items(where: \.countedStem, equals: 7).map(\.id) == (2..<10).map { 10_000 * $0 + 7 } + [200_000])
        #expect(store.items(where: \.countedStem, equals: 8).map(\.id).prefix(3) == [7, 8, 10_008])
        #expect(Leaf.takeReads() == 0)

        // A large change is made on a copy, with its look-ups.
        try await store.insert((0..<30_000).map { Leaf(id: $0, stem: -1) })
        #expect(Leaf.takeReads() <= 60_000)
        #expect(
            store.items(where: \.countedStem, equals: -1).map(\.id) == Array(0..<10_007) + Array(10_008..<30_000) + [
                10_007
            ])
        #expect(Leaf.takeReads() == 0)
    }

    @Test("Observers of a look-up are notified of a change")
    func observation() async throws {
        let store = try await Store<Leaf>(storage: MemoryStorageEngine())
        let isNotified = Locked(false)
        let found = withObservationTracking {
            store.items(where: \.stem, equals: 1)
        } onChange: {
            isNotified.withLock { $0 = true }
        }
        #expect(found.isEmpty)
        try await store.insert(Leaf(id: 1, stem: 1))
        #expect(isNotified.withLock { $0 })
        #expect(store.items(where: \.stem, equals: 1).map(\.id) == [1])
    }
}
