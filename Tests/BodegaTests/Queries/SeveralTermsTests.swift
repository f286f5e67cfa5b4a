import Bodega
import Foundation
import TestSupport
import Testing

/// Lists that are sorted by several properties. The right ones come from Swift's arrays.
@Suite("A sort by several properties", .serialized, .unhurriedReads, .timeLimit(.minutes(10)))
struct SeveralTermsTests {

    @Test("reads what a page needs, independent of the number of items", arguments: [400, 2_000], [false, true])
    func pages(count: Int, isInMemory: Bool) async throws {
        let folder = TemporaryFolder()
        let engine: any StorageBackend =
            isInMemory
            ? MemoryStorageEngine()
            : try SQLiteStorageEngine(openingFile: folder.file("chores"), durability: .relaxed)
        for defect in try await ChoreList.findDefects(in: engine, count: count) { Issue.record("\(defect)") }
    }
}
