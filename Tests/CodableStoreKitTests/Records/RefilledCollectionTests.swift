import Bodega
import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Observers of a collection that another engine repeatedly removes and fills again.
@Suite struct RefilledCollectionTests {

    private let folder = TemporaryFolder()
    private let rounds = TestSizes.refills

    private var file: URL { folder.file("CodableStoreKit.sqlite3") }
    private static let last = Letter(id: "last")

    private func stored(_ store: CodableStore<Letter>) throws -> [String: Letter] {
        Dictionary(uniqueKeysWithValues: try store.getCollection().map { ($0.id, $0) })
    }

    /// Applies events to the objects that existed at the subscription, up to the last object.
    private func replay(
        _ events: AsyncStream<CodableStore<Letter>.ObserveEvent>, onto existing: [String: Letter]
    ) async -> [String: Letter] {
        var objects = existing
        for await event in events {
            switch event {
            case .saved(let letter, _, _): objects[letter.id] = letter
            case .deleted(let letter, _, _): objects[letter.id] = nil
            }
            if objects[Self.last.id] != nil { break }
        }
        return objects
    }

    /// Changes the collection as this process's stores do.
    private func change(_ store: CodableStore<Letter>, _ random: inout SeededGenerator, _ round: Int) throws {
        let id = "\(Int.random(in: 0..<6, using: &random))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: try store.save(Letter(id: id, text: "own \(round)"))
        case 2:
            // Another engine may have removed it.
            do { try store.delete(identifier: id) } catch let error as StorageError where error.code == .notFound {}
        case 3: try store.removeCollection()
        case 4:
            for result in store.save((0..<3).map { Letter(id: "\($0)", text: "batch \(round)") }) {
                if let error = result.error { throw error }
            }
        default: break
        }
    }

    @Test(
        "The events of a collection that another engine removes and fills again lead to what is stored",
        arguments: [false, true], 0..<3)
    func otherEngine(isSameFile: Bool, number: UInt64) async throws {
        let seed = Seed.current &+ number
        print("refilled by another engine: EMPORIUM_SEED=\(seed)")
        var (random, refilling) = (SeededGenerator(seed: seed), Refilling(seed: ~seed))
        let other = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        // Through the same open file, commits are signaled as they happen.
        let store = CodableStore<Letter>(
            container: "c", engine: isSameFile ? .sqlite(other) : .sqlite(in: folder.directory))
        try store.save(Letter(id: "first"))
        let name = try #require(try await other.collectionNames().first)
        // Without the collection, or with an empty or filled one.
        switch number {
        case 0: try await other.removeCollection(named: name)
        case 1: try store.delete(identifier: "first")
        default: for number in 0..<3 { try store.save(Letter(id: "\(number)", text: "before")) }
        }
        let existing = try stored(store)
        let events = store.events()
        let replayed = Task { await replay(events, onto: existing) }
        for round in 0..<rounds {
            try await refilling.fill(other, name, round)
            try change(store, &random, round)
        }
        try await Refilling.save(Self.last.id, Self.last.text, in: other.collection(named: name))
        let (objects, expected) = (await replayed.value, try stored(store))
        #expect(objects == expected, "EMPORIUM_SEED=\(seed)")
        try await other.close()
    }

    @Test("The events of a collection that another process removes and fills again lead to what is stored")
    func otherProcess() async throws {
        let seed = Seed.current
        print("refilled by another process: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let store = CodableStore<Letter>(engine: .sqlite(in: folder.directory))
        let events = store.events()
        let replayed = Task { await replay(events, onto: [:]) }
        try store.save(Letter(id: "first"))
        let other = try SQLiteStorageEngine(openingFile: file)
        let name = try #require(try await other.collectionNames().first)
        let child = try Child("refill-letters", file.path, "\(seed)", "\(rounds)")
        // One change after each round of the other process, which does not wait for it.
        var round = 0
        while let line = await child.nextLine(), line != "done" {
            round += 1
            try change(store, &random, round)
        }
        #expect(round == rounds)
        try await Refilling.save(Self.last.id, Self.last.text, in: other.collection(named: name))
        let (objects, expected) = (await replayed.value, try stored(store))
        #expect(objects == expected, "EMPORIUM_SEED=\(seed)")
        try await other.close()
    }
}
