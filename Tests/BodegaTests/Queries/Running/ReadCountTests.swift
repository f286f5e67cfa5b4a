import Foundation
import TestSupport
import Testing

@testable import Bodega

/// The number of items that a query reports to have read. The oracle is SQLite, which reports each row of a statement.
@Suite(.serialized, .unhurriedReads) struct ReadCountTests {

    @Test(arguments: [
        (limit: 5, place: 900, isSorted: true), (5, 0, true), (.max, 950, true), (.max, 990, false), (20, 0, false),
        (5, 1_000, true),
    ])
    func `A reader counts the rows that SQLite returns`(limit: Int, place: Int, isSorted: Bool) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("items")
        let rows = StatementTrace(of: file, .rows, ofStatementsBeginningWith: "SELECT key, kind, value")
        defer { rows.end() }
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        try await engine.write((0..<1_000).map { (CacheKey("\($0)"), Data("{\"n\":\($0 * 7 % 1_000)}".utf8)) })
        try await engine.createIndex(StorageIndex("n", isForText: false))
        let examined = Locked(0)
        let path = MemberPath("n")
        let keys = StorageSortKeyRanges(.before(.integer(Int64(place))), .before(.text("")))
        let query = StorageQuery<CacheKey>(
            condition: .member(path: path, possible: keys, certain: keys, needsTextIndex: false),
            order: isSorted ? [QueryTerm(path: "n", isDescending: false)] : []
        ) { entry, receive in
            examined.withLock { $0 += 1 }
            let number = try JSONDecoder().decode([String: Int].self, from: entry.data)["n"] ?? 0
            guard number >= place else { return nil }
            receive(entry.key)
            return isSorted ? [.integer(Int64(number))] : []
        }
        let reader = StorageReader(engine)
        rows.reset()
        let found = try await query.page(from: reader, limit: limit, after: nil)
        #expect(found.matches.count == min(limit, 1_000 - place))
        #expect(reader.itemCount == rows.count)
        #expect(examined.withLock { $0 } == reader.itemCount)
    }
}
