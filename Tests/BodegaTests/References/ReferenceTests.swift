import Bodega
import Foundation
import TestSupport
import Testing

@Suite("References", .timeLimit(.minutes(60)))
struct ReferenceTests {
    private let folder = TemporaryFolder()

    enum Kind: CaseIterable { case memory, SQLite, indexed }

    @Test("leave what a naive program leaves, with cycles and dangling ones", arguments: Kind.allCases)
    func agreement(kind: Kind) async throws {
        let defects = try await ReferenceModel.findDefects(cases: TestSizes.references, seed: Seed.current) { number in
            let names = ["a", "b", "c"]
            if kind == .memory {
                let engine = MemoryStorageEngine()
                return Dictionary(uniqueKeysWithValues: names.map { ($0, engine.collection(named: $0)) })
            }
            let database = try SQLiteStorageEngine(openingFile: folder.file("\(number)"), durability: .relaxed)
            var engines: [String: any StorageBackend] = [:]
            for name in names {
                let engine = try database.collection(named: name)
                if kind == .indexed {
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
