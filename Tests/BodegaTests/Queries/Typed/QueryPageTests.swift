import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Pages whose items wait undecoded, compared with Swift's own `filter` and `sorted`.
@Suite struct QueryPageTests {

    private struct Job: Queryable {
        enum Kind: String, Codable { case note, task, memo }
        var kind: Kind?
        var rank: Int
        var size: Int
        var number: Int

        static let indexes = [Index("kind", \Job.kind), Index("rank", \Job.rank), Index("size", \Job.size)]
    }

    private let folder = TemporaryFolder()

    private func storage(_ records: [(name: String, text: String)]) async throws -> ObjectStorage<Job> {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let storage = ObjectStorage<Job>(storage: engine, coder: JSONObjectCoder())
        try await storage.createIndexes()
        try await engine.write(records.map { (CacheKey(verbatim: $0.name), Data($0.text.utf8)) })
        return storage
    }

    private func names(of query: Query<Job>, in storage: ObjectStorage<Job>, limit: Int) async throws -> [String] {
        var names: [String] = []
        var cursor: QueryCursor?
        repeat {
            let page = try await storage.fetch(query, limit: limit, after: cursor, omittingUndecodable: true)
            names += page.objectsAndKeys.map(\.key.rawValue)
            cursor = page.next
        } while cursor != nil && names.count < 10_000
        return names
    }

    @Test func `A group of equal values that can't be decoded does not end the page`() async throws {
        var records = (0..<8).map { ("bad\($0)", "{\"rank\":1,\"size\":\($0)}") }
        records += (0..<20).map { ("good\($0)", "{\"rank\":2,\"size\":\($0),\"number\":\($0)}") }
        records += (0..<20).map { ("last\($0)", "{\"rank\":3,\"size\":\($0),\"number\":\($0)}") }
        let storage = try await storage(records)
        let query = Query<Job>(sortedBy: SortDescriptor(\.rank), SortDescriptor(\.size))
        let expected = (0..<20).map { "good\($0)" } + (0..<20).map { "last\($0)" }
        for limit in 1...9 { #expect(try await names(of: query, in: storage, limit: limit) == expected, "\(limit)") }
        #expect(try await storage.first(query, omittingUndecodable: true)?.key.rawValue == "good0")
    }

    @Test(arguments: [false, true])
    func `Many items without a value, and others, are in insertion order on all pages`(hasBad: Bool) async throws {
        let records = (0..<2_000).map { number in
            let kind = number % 3 == 0 ? "\"kind\":\"note\"," : number % 3 == 1 ? "" : "\"kind\":\"memo\","
            let isBad = hasBad && number % 7 == 0
            return ("\(number)", "{\(kind)\"rank\":1,\"size\":2\(isBad ? "" : ",\"number\":\(number)")}")
        }
        let storage = try await storage(records)
        let kinds: [Job.Kind?] = [.note, nil]
        let queries: [(Query<Job>, (Int) -> Bool)] = [
            (Query(where: #Predicate { kinds.contains($0.kind) }), { _ in true }),
            (Query(where: #Predicate { kinds.contains($0.kind) && $0.number % 5 != 0 }), { $0 % 5 != 0 }),
        ]
        for (query, isMatch) in queries {
            let expected = (0..<2_000).filter { $0 % 3 != 2 && isMatch($0) && !(hasBad && $0 % 7 == 0) }
            #expect(try await names(of: query, in: storage, limit: 97) == expected.map { "\($0)" })
        }
    }
}
