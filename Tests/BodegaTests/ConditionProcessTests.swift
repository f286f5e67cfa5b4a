import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Conditional batches of several processes.
@Suite struct ConditionProcessTests {

    private let keys = [CacheKey("counter"), CacheKey("copy")]

    private func numbers(in engine: any StorageEngine) async throws -> [String] {
        try await engine.fetch(keys: keys).map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test(arguments: ["sqlite", "disk"])
    func `Increments of two processes lose nothing`(kind: String) async throws {
        let folder = TemporaryFolder()
        let processes = try (0..<2).map { _ in try Child("increment-pair", kind, folder.path, "100") }
        for process in processes { #expect(await process.lines().last == "done") }
        #expect(try await numbers(in: openEngine(kind, at: folder)) == ["200", "200"])
    }

    @Test(arguments: ["sqlite", "disk"])
    func `A kill loses no increment that was acknowledged, and leaves no half of a batch`(kind: String) async throws {
        print("kill test of conditional batches, \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        let rounds = 20
        var acknowledged: [Int] = []
        for _ in 0..<rounds {
            let processes = try (0..<2).map { _ in try Child("increment-pair", kind, folder.path, "0") }
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                acknowledged.append(try #require(await processes[0].nextLine().flatMap { Int($0) }))
            }
            for process in processes {
                process.kill()
                // Lines that it printed before it ended count, too.
                acknowledged += await process.lines().compactMap { Int($0) }
            }
            let found = try await numbers(in: openEngine(kind, at: folder))
            #expect(Set(found).count == 1, "half of a batch: \(found)")
        }
        let last = try #require(try await numbers(in: openEngine(kind, at: folder)).first.flatMap { Int($0) })
        #expect(Set(acknowledged).count == acknowledged.count, "Two processes have written the same number.")
        // Each process may have been killed between its last batch and the line.
        #expect(acknowledged.count...acknowledged.count + 2 * rounds ~= last)
    }
}
