import Bodega
import Foundation
import TestSupport
import Testing

@Suite("Random queries")
struct DifferentialQueryTests {

    private let folder = TemporaryFolder()

    @Test("find the same in every engine as a naive search")
    func agreement() async throws {
        print("random queries: EMPORIUM_SEED=\(Seed.current)")
        let plain = try engine("plain")
        let valued = try engine("valued")
        let textual = try engine("textual")
        try await QueriedEngine.createIndexes(of: valued, forText: false)
        try await QueriedEngine.createIndexes(of: textual, forText: true)
        let compound = try engine("compound")
        try await QueriedEngine.createCompoundIndexes(of: compound)
        let disk = DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk")))
        let (valuedMemory, textualMemory) = (MemoryStorageEngine(), MemoryStorageEngine())
        try await QueriedEngine.createIndexes(of: valuedMemory, forText: false)
        try await QueriedEngine.createIndexes(of: textualMemory, forText: true)
        let compoundMemory = MemoryStorageEngine()
        try await QueriedEngine.createCompoundIndexes(of: compoundMemory)
        let (partial, partialMemory) = (try engine("partial"), MemoryStorageEngine())
        try await QueriedEngine.createPartialIndexes(of: partial)
        try await QueriedEngine.createPartialIndexes(of: partialMemory)
        let engines = [
            QueriedEngine("memory", MemoryStorageEngine()),
            QueriedEngine("memory with indexes", valuedMemory, share: 2),
            QueriedEngine("memory with indexes for text", textualMemory, share: 2),
            QueriedEngine("memory with compound indexes", compoundMemory, share: 2),
            QueriedEngine("SQLite", plain),
            QueriedEngine("SQLite with indexes", valued, share: 3, countsInvalidUTF8: true),
            QueriedEngine("SQLite with indexes for text", textual, share: 3, countsInvalidUTF8: true),
            QueriedEngine("SQLite with compound indexes", compound, share: 3, countsInvalidUTF8: true),
            QueriedEngine("memory with partial indexes", partialMemory, share: 2),
            QueriedEngine("SQLite with partial indexes", partial, share: 3, countsInvalidUTF8: true),
            QueriedEngine("disk", disk),
        ]
        let defects = try await DifferentialQueries.findDefects(
            cases: TestSizes.queries, seed: Seed.current, engines: engines)
        for defect in defects { Issue.record("\(defect)") }
    }

    private func engine(_ name: String) throws -> SQLiteStorageEngine {
        try SQLiteStorageEngine(opening: folder.directory, databaseFilename: name, durability: .relaxed)
    }
}
