import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

private struct Titled: Queryable {
    var title: String
    static let indexes = [Index("title", \Titled.title)]
}

/// The texts that an index examines, because examining takes time with each write.
@Suite struct TextIndexTests {
    private static let samples: [(text: String, isKnown: Bool)] = [
        (String(repeating: "x", count: 4_000), true), (String(repeating: "x", count: 4_001), false),
        (String(repeating: "x", count: 1_000_000), false), (String(repeating: "\u{436}", count: 500), true),
        (String(repeating: "\u{436}", count: 501), false), (String(repeating: "\u{8A9E}", count: 333), true),
        (String(repeating: "\u{8A9E}", count: 334), false), (String(repeating: "\u{E01}", count: 133), true),
        (String(repeating: "\u{E01}", count: 134), false), ("e\u{301}", false), ("\u{E9}t\u{E9} \u{1F600}", true),
        ("\u{E01}\u{8A9E}\u{436}", true), ("a\tb\u{8}", true), ("", true),
        ("6f9619FF-8b86-D011-B42D-00CF4FC964FF", false), ("6F9619FF-8B86-D011-B42D-00CF4FC964FF", true),
    ]

    @Test func `Texts up to a size are known to an index, and all are found and sorted as Swift sorts them`()
        async throws
    {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let storage = ObjectStorage<Titled>(storage: engine)
        try await storage.createIndexes()
        let index = try #require(try await engine.fetchIndexes().first)
        for (number, sample) in Self.samples.enumerated() {
            let before = try await engine.count(.irregular(index), upTo: .max)
            try await storage.store(Titled(title: sample.text), forKey: CacheKey(verbatim: "\(number)"))
            let after = try await engine.count(.irregular(index), upTo: .max)
            #expect(after - before == (sample.isKnown ? 0 : 1), "\(number), \(sample.text.utf8.count) bytes")
        }
        let titles = Self.samples.map { Titled(title: $0.text) }
        for order in [SortOrder.forward, .reverse] {
            let descriptor = SortDescriptor(\Titled.title, order: order)
            let expected = titles.sorted(using: descriptor).map(\.title)
            let found = try await storage.fetch(Query(sortedBy: descriptor)).objects.map(\.title)
            #expect(found == expected)
            let first = try await storage.fetch(Query(sortedBy: descriptor), limit: 5).objects.map(\.title)
            #expect(first == Array(expected.prefix(5)))
        }
        for sample in Self.samples {
            let text = sample.text
            let count = try await storage.count(Query(where: #Predicate { $0.title == text }))
            #expect(count == titles.count { $0.title == text })
        }
    }
}
