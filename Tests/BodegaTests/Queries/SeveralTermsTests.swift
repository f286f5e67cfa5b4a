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

    private struct Box: Codable, Queryable, Hashable, Sendable {
        var rank: Int
        var size: Int

        static let indexes = [Index("rank", \Box.rank).then("size", \Box.size)]
    }

    @Test("goes on after items whose later member is not UTF-8", arguments: [SortOrder.forward, .reverse])
    func invalidText(order: SortOrder) async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("boxes"), durability: .relaxed)
        let boxes = ObjectStorage<Box>(storage: engine, coder: .json)
        let all = (0..<300).map { Box(rank: $0 % 3, size: $0 * 7 % 100) }
        for (number, box) in all.enumerated() {
            // The index knows nothing about an item with an escape, which is read beforehand.
            let other = number % 4 == 0 ? ",\"\\u0078\":0" : ""
            let data = Data("{\"rank\":\(box.rank),\"size\":\(box.size)\(other)}".utf8)
            try await engine.write(data, key: CacheKey(verbatim: "\(number)"))
            if number % 10 == 0 {
                var invalid = Data("{\"rank\":\(number % 3),\"size\":\"".utf8)
                invalid.append(contentsOf: [0xFF] + Data("\"}".utf8))
                try await engine.write(invalid, key: CacheKey(verbatim: "invalid \(number)"))
            }
        }
        try await boxes.createIndexes()
        let sizes = SortDescriptor(\Box.size, order: order)
        let query = Query<Box>(sortedBy: SortDescriptor(\.rank, order: order), sizes)
        var (found, place): ([Box], QueryCursor?) = ([], nil)
        repeat {
            let page = try await boxes.fetch(query, limit: 20, after: place, omittingUndecodable: true)
            found += page.objects
            place = page.next
        } while place != nil
        #expect(found == all.sorted(using: [SortDescriptor(\.rank, order: order), sizes]))
    }
}
