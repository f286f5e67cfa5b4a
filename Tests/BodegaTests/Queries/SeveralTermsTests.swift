import Bodega
import Foundation
import TestSupport
import Testing

/// Lists that are sorted by several properties. The right ones come from Swift's arrays.
@Suite("A sort by several properties", .serialized, .unhurriedReads)
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

    private struct Word: Codable, Queryable, Hashable, Sendable {
        var text: String
        var size: Int?
        var mark = 0

        static let indexes = [Index("text", \Word.text).then("size", \Word.size)]
    }

    @Test("loses nothing before items that are read beforehand, if others can't be decoded", arguments: [1, 3, 8, 13])
    func undecodable(limit: Int) async throws {
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(openingFile: folder.file("words"), durability: .relaxed)
        for engine in [MemoryStorageEngine(), sqlite] as [any StorageEngine] {
            let words = ObjectStorage<Word>(storage: engine)
            // An index knows nothing about a text with U+0000, which comes before all others here.
            let texts = ["z", "c", "b", "a", "\0"]
            let all = texts.flatMap { text in (0..<20).map { Word(text: text, size: $0 % 4 == 0 ? nil : $0 % 7) } }
            try await words.store(all.enumerated().map { (CacheKey(verbatim: "\($0)"), $1) })
            for number in 0..<60 {
                let data = Data(#"{"text":"\#(texts[number % 4])","size":\#(number % 7),"mark":"none"}"#.utf8)
                try await engine.write(data, key: CacheKey(verbatim: "undecodable \(number)"))
            }
            try await words.createIndexes()
            let query = Query<Word>(sortedBy: SortDescriptor(\.text, order: .reverse), SortDescriptor(\.size))
            let expected = texts.flatMap { text in
                all.filter { $0.text == text && $0.size != nil }.sorted { $0.size ?? 0 < $1.size ?? 0 }
                    + all.filter { $0.text == text && $0.size == nil }
            }
            var (found, place): ([Word], QueryCursor?) = ([], nil)
            repeat {
                let page = try await words.fetch(query, limit: limit, after: place, omittingUndecodable: true)
                found += page.objects
                place = page.next
            } while place != nil
            #expect(found == expected, "\(type(of: engine))")
        }
    }
}
