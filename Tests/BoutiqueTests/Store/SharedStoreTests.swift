import Bodega
import BodegaTesting
import Boutique
import Foundation
import SharedStores
import TestSupport
import Testing

/// Stores that change the same data at random: all end equal to it, and each is told of every change once.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct SharedStoreTests {

    /// Changes the data of engines that share it, through a store on each.
    private func run(_ engines: [any StorageEngine], seed: UInt64, rounds: Int) async throws {
        let names = Array(["A", "B", "C"].prefix(engines.count))
        var visitors: [Visitor] = []
        for (number, engine) in engines.enumerated() {
            visitors.append(
                try await Visitor(
                    names[number], on: engine, seed: seed &+ UInt64(number), removesAll: seed.isMultiple(of: 3)))
        }
        let changes = visitors.map { visitor in Task { try await visitor.change(rounds: rounds) } }
        for change in changes { try await change.value }
        for (visitor, engine) in zip(visitors, engines) {
            try await visitor.await(endsOf: names)
            let problems = try await visitor.problems(engine)
            #expect(problems.isEmpty, "EMPORIUM_SEED=\(seed): \(problems.joined(separator: "\n"))")
        }
    }

    @Test("In memory")
    func memory() async throws {
        print("stores that share memory: EMPORIUM_SEED=\(Seed.current)")
        for round in 0..<200 {
            let engine = MemoryStorageEngine()
            try await run([engine, engine, engine], seed: Seed.current &+ UInt64(round), rounds: 20)
        }
    }
}
