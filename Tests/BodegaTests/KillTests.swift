import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Another process writes and says each key when its call has returned; it is killed at random moments.
@Suite struct KillTests {

    @Test(
        "What was acknowledged before a kill is there, whole; batches are there all or not at all",
        arguments: ["sqlite", "disk"], [StorageDurability.full, .relaxed]
    )
    func kill(engine kind: String, durability: StorageDurability) async throws {
        let folder = TemporaryFolder()
        let seed = Seed.current
        print("kill test of \(kind), \(durability): EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        var acknowledged: [String] = []
        for round in 0..<50 {
            let child = try Child("write", kind, folder.path, "\(durability)", "r\(round)", "100000")
            var said: [String] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                said.append(try #require(await child.nextLine()))
            }
            child.kill()
            // What it had said before it died counts too.
            said += await child.lines()
            let engine = try openEngine(kind, at: folder, durability)
            try await verify(said, writtenWith: "r\(round)", in: engine)
            acknowledged += said.filter { !$0.hasPrefix("batch ") }
        }
        let engine = try openEngine(kind, at: folder, durability)
        let keys = acknowledged.map { CacheKey($0) }
        #expect(try await engine.fetchKeys(among: keys) == keys)
        if let engine = engine as? SQLiteStorageEngine {
            #expect(try await engine.integrityCheck() == [])
        }
    }

    private func verify(_ said: [String], writtenWith prefix: String, in engine: any StorageEngine) async throws {
        var batches: [String: Set<String>] = [:]
        var found: Set<String> = []
        for (key, data) in try await engine.fetchAll() where key.rawValue.hasPrefix(prefix + "-") {
            #expect(data == Data(String(repeating: key.rawValue + ";", count: 40).utf8), "torn: \(key)")
            found.insert(key.rawValue)
            if let range = key.rawValue.range(of: "-batch-") {
                batches[String(key.rawValue[..<range.lowerBound]), default: []].insert(key.rawValue)
            }
        }
        for (batch, items) in batches {
            #expect(items.count == 5, "half a batch: \(batch)")
        }
        for line in said {
            guard line.hasPrefix("batch ") else {
                #expect(found.contains(line), "lost: \(line)")
                continue
            }
            // The batch is there, or the next one of the same writer has replaced it.
            let name = String(line.dropFirst(6))
            let parts = name.split(separator: "-")
            let next = "\(parts[0])-\(parts[1])-\((Int(parts[2]) ?? 0) + 1)"
            let isThere = batches[name] != nil
            #expect(isThere || said.contains("batch " + next) || batches[next] != nil, "lost: \(line)")
            #expect(!(isThere && batches[next] != nil), "both a batch and the one that replaces it: \(line)")
        }
    }
}
