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

private struct Measured: Queryable {
    var value: Double

    static let indexes = [Index("value", \Measured.value)]
}

@Suite struct QueryCountTests {
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
        // A query that reads this item fails.
        try await base.write(bytes(#"{"title":"abc"}"#), key: CacheKey("broken"))
        let start = "a"
        let query = Query<Counted>(where: #Predicate { start.isEmpty || $0.title.starts(with: start) })
        #expect(try await storage.count(query) == 121)
        await #expect(throws: StorageError.self) { try await storage.fetch(query) }
    }

    @Test func `Integers beyond 2^53 that are decoded as the same Double are equal`() async throws {
        let engine = try SQLiteStorageEngine(openingFile: folder.file("counted.sqlite3"), durability: .relaxed)
        let storage = ObjectStorage<Measured>(storage: engine)
        try await storage.createIndexes()
        let numbers = ["9007199254740992", "9007199254740992.0", "9007199254740993", "9007199254740994"]
        try await engine.write(numbers.map { (CacheKey($0), bytes("{\"value\":\($0)}")) })
        let value = 9_007_199_254_740_992.0
        let same: [Predicate<Measured>] = [#Predicate { $0.value == value }, #Predicate { $0.value <= value }]
        let others: [Predicate<Measured>] = [#Predicate { $0.value != value }, #Predicate { $0.value > value }]
        for (predicates, count) in [(same, 3), (others, 1)] {
            for predicate in predicates {
                let query = Query(where: predicate)
                #expect(try await storage.count(query) == count, "\(predicate)")
                #expect(try await storage.fetch(query).objectsAndKeys.count == count, "\(predicate)")
            }
        }
    }
}
