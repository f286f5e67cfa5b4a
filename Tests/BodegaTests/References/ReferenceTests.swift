import Bodega
import Foundation
import TestSupport
import Testing

@Suite("References")
struct ReferenceTests {
    private let folder = TemporaryFolder()

    enum Kind: CaseIterable { case memory, indexedMemory, SQLite, indexed }

    @Test("leave what a naive program leaves, with cycles and dangling ones", arguments: Kind.allCases)
    func agreement(kind: Kind) async throws {
        let defects = try await ReferenceModel.findDefects(cases: TestSizes.references, seed: Seed.current) { number in
            let names = ["a", "b", "c"]
            let isInMemory = kind == .memory || kind == .indexedMemory
            let memory = MemoryStorageEngine()
            let database = try SQLiteStorageEngine(openingFile: folder.file("\(number)"), durability: .relaxed)
            var engines: [String: any StorageBackend] = [:]
            for name in names {
                let engine: any StorageBackend =
                    isInMemory ? memory.collection(named: name) : try database.collection(named: name)
                if kind == .indexed || kind == .indexedMemory {
                    for (number, path) in ["one", "two"].enumerated() {
                        try await engine.createIndex(StorageIndex(path, isForText: number == 0))
                    }
                }
                engines[name] = engine
            }
            return engines
        }
        #expect(defects == [], "EMPORIUM_SEED=\(Seed.current)")
    }
}
