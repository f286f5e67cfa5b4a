import Bodega
import BodegaTesting
import Boutique
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Stores of both kinds and an engine that change one SQLite file at random.
@MainActor
@Suite struct SharedFileTests {

    /// An object that both kinds of stores represent in the same way.
    private struct Chore: CodableStoreable, Identifiable, Equatable, Sendable {
        let id: String
        var title: String

        static var codableStoreIdentifier: KeyPath<Chore, String> { \.id }
        static var codableStoreCollectionName: String { "Chores" }
        static let last = Chore(id: "last", title: "")
    }

    private enum Step: Sendable {
        /// Each object has a title of its own.
        case save([Chore])
        case delete(String)

        var titles: [String] { if case .save(let chores) = self { chores.map(\.title) } else { [] } }
    }

    /// Random steps of one writer.
    private static func steps(_ writer: String, _ count: Int, seed: UInt64) -> [Step] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let shared = (0..<3).map { _ in "shared \(Int.random(in: 0..<5, using: &random))" }
            // An identifier that only this step uses.
            let ids = ["only \(writer) \(number)"] + shared
            return switch Int.random(in: 0..<6, using: &random) {
            case 0: .save(Set(ids).map { Chore(id: $0, title: "\(writer) \(number) \($0)") })
            case 1, 2: .save([Chore(id: ids[0], title: "\(writer) \(number)")])
            case 3: .save([Chore(id: ids[1], title: "\(writer) \(number)")])
            default: .delete(ids[1])
            }
        }
    }

    private nonisolated static func run(_ steps: [Step], in store: CodableStore<Chore>) throws {
        for step in steps {
            switch step {
            case .save(let chores): for result in store.save(chores) { if let error = result.error { throw error } }
            case .delete(let id):
                do { try store.delete(identifier: id) } catch let error as StorageError where error.code == .notFound {}
            }
        }
    }

    /// Does the same on a thread of its own, which may block.
    private nonisolated static func runOnThread(_ steps: [Step], in store: CodableStore<Chore>) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try run(steps, in: store) }) }.start()
        }
    }

    private static func run(_ steps: [Step], in store: Store<Chore>) async throws {
        for step in steps {
            switch step {
            case .save(let chores): try await store.insert(chores)
            case .delete(let id): try await store.remove(id: id)
            }
        }
    }

    private nonisolated static func run(_ steps: [Step], in engine: SQLiteStorageEngine) async throws {
        for step in steps {
            switch step {
            case .save(let chores):
                try await engine.write(chores.map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
            case .delete(let id): try await engine.remove(key: CacheKey(id))
            }
        }
    }

    /// The events up to that of the last object.
    private nonisolated static func collect(
        _ events: AsyncStream<CodableStore<Chore>.ObserveEvent>
    ) async -> [(kind: StorageChange.Kind, chore: Chore)] {
        var collected: [(kind: StorageChange.Kind, chore: Chore)] = []
        for await event in events {
            switch event {
            case .saved(let chore, _, _): collected.append((.written, chore))
            case .deleted(let chore, _, _): collected.append((.removed, chore))
            }
            if event.object == .last { break }
        }
        return collected
    }

    @Test("The events of stores that share a file with others are in the order of its log", arguments: 0..<4)
    func interleaved(number: UInt64) async throws {
        let seed = Seed.current &+ number
        print("stores of both kinds and an engine on a file: EMPORIUM_SEED=\(seed)")
        let folder = TemporaryFolder()
        let engines = try (0..<3).map { _ in
            try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        }
        let boutique = try await Store<Chore>(storage: engines[0])
        // All but the last share their observers. The last one follows the file through another engine.
        let stores = (0..<5).map { CodableStore<Chore>(engine: .sqlite(engines[$0 / 4])) }
        let start = try await engines[2].fetchCursor()
        let observing = stores.map { store in
            let events = store.events()
            return Task { await Self.collect(events) }
        }
        let plans = (0..<7).map { Self.steps("\($0)", 60, seed: seed &* 7 &+ UInt64($0)) }
        var writing = zip(plans, stores).map { plan, store in
            Task { try await Self.runOnThread(plan, in: store) }
        }
        writing.append(Task.detached { try await Self.run(plans[6], in: engines[2]) })
        try await Self.run(plans[5], in: boutique)
        for task in writing { try await task.value }
        try await Self.run([.save([.last])], in: engines[2])

        let stored = Dictionary(uniqueKeysWithValues: try stores[0].getCollection().map { ($0.id, $0) })
        let log = try #require(await engines[2].fetchChanges(since: start, excluding: nil))
        #expect(log.isComplete)
        let onlyOnce = log.changes.map(\.key.rawValue).filter { $0.hasPrefix("only") }
        // By titles. Stores on one engine are one to their observers.
        let own = [plans[0..<4], plans[4...4]].map { $0.joined().flatMap(\.titles) }
        for (number, task) in observing.enumerated() {
            let events = await task.value
            var replayed: [String: Chore] = [:]
            for (kind, chore) in events { replayed[chore.id] = kind == .written ? chore : nil }
            #expect(replayed == stored, "EMPORIUM_SEED=\(seed)")
            let saved = events.filter { $0.kind == .written }.map(\.chore)
            #expect(saved.map(\.id).filter { $0.hasPrefix("only") } == onlyOnce, "EMPORIUM_SEED=\(seed)")
            let counts = Dictionary(saved.map { ($0.title, 1) }, uniquingKeysWith: +)
            #expect(counts.values.allSatisfy { $0 == 1 }, "EMPORIUM_SEED=\(seed)")
            #expect(own[number / 4].allSatisfy { counts[$0] == 1 }, "EMPORIUM_SEED=\(seed)")
            var rest = log.changes[...]
            for (kind, chore) in events {
                let place = rest.firstIndex { $0.kind == kind && $0.key == CacheKey(chore.id) }
                guard let place else {
                    Issue.record("\(kind) \(chore) is not in the order of the log. EMPORIUM_SEED=\(seed)")
                    return
                }
                rest = rest[(place + 1)...]
            }
        }
        for await _ in boutique.events where boutique.items.contains(.last) { break }
        #expect(Dictionary(uniqueKeysWithValues: boutique.items.map { ($0.id, $0) }) == stored)
    }
}
