import Bodega
import Foundation
import TestSupport
import Testing

/// An object that is counted.
private struct Counted: Queryable {
    var rank: Int
    var title: String

    static let indexes = [Index("rank", \Counted.rank), Index("title", \Counted.title)]
}

@Suite(.timeLimit(.minutes(5))) struct QueryCountTests {
    private let folder = TemporaryFolder()

    private func bytes(_ json: String) -> Data { Data(json.utf8) }

    @Test func `A count is that of one moment, although others write`() async throws {
        let engine = try SQLiteStorageEngine(openingFile: folder.file("counted.sqlite3"), durability: .relaxed)
        let storage = ObjectStorage<Counted>(storage: engine)
        try await storage.createIndexes()
        let keys = (0..<20).map { CacheKey("\($0)") }
        // The index counts the first of these, and knows nothing about the second, which has an escape.
        let forms = [bytes(#"{"rank":7,"title":"a"}"#), bytes(#"{"rank":7,"title":"\u0061"}"#)]
        try await engine.write(keys.map { ($0, forms[0]) })
        let isDone = Locked(false)
        let writer = Task {
            defer { isDone.withLock { $0 = true } }
            for number in 0..<300 {
                let form = forms[number % 2]
                try await engine.write(keys.map { ($0, form) })
            }
        }
        var counts: Set<Int> = []
        while !isDone.withLock({ $0 }) {
            counts.insert(try await storage.count(Query(where: #Predicate { $0.rank > 3 })))
        }
        try await writer.value
        #expect(counts == [20])
    }

    @Test func `Texts with a common start are counted without being read`() async throws {
        let base = try SQLiteStorageEngine(openingFile: folder.file("counted.sqlite3"), durability: .relaxed)
        let titles = ["", "a", "ab", "abc", "a\n", "b", "\u{E9}", "a\u{E9}", "a\u{4E00}", "B"]
        let storage = ObjectStorage<Counted>(storage: base)
        try await storage.store(
            (0..<200).map { (CacheKey("\($0)"), Counted(rank: $0, title: titles[$0 % titles.count])) })
        try await storage.createIndexes()
        // Whoever reads these fails.
        try await base.write(bytes(#"{"title":"abc"}"#), key: CacheKey("broken"))
        let start = "a"
        let query = Query<Counted>(where: #Predicate { start.isEmpty || $0.title.starts(with: start) })
        #expect(try await storage.count(query) == 121)
        await #expect(throws: StorageError.self) { try await storage.fetch(query) }
    }
}
