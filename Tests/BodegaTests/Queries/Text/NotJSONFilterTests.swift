import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

private struct Ranked: Queryable {
    var rank: Int

    static let indexes = [Index("rank", \Ranked.rank)]
}

/// Records that some decoders accept, and RFC 8259 does not.
@Suite struct NotJSONFilterTests {

    private static let records: [(name: String, data: Data)] = [
        ("a trailing comma", Data(#"{"rank":2,}"#.utf8)),
        ("a byte order mark", Data([0xEF, 0xBB, 0xBF] + #"{"rank":2}"#.utf8)),
        ("UTF-16", #"{"rank":2}"#.data(using: .utf16LittleEndian) ?? Data()),
        ("a raw control character", Data("{\"rank\":2,\"x\":\"a\u{1}b\"}".utf8)),
        ("Latin-1", Data(#"{"rank":2,"x":""#.utf8 + [0xE9] + #""}"#.utf8)),
        ("a comment", Data(#"{"rank":2/**/}"#.utf8)),
    ]

    private func engines(_ folder: TemporaryFolder) throws -> [any StorageEngine] {
        [
            MemoryStorageEngine(), try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed),
            DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk"))),
            MemoryStorageEngine().encrypted(with: EncryptionKeyset()),
        ]
    }

    @Test func `A record that is not strict JSON meets no filter in text, and is reported as undecodable`() async throws
    {
        for (name, data) in Self.records {
            let folder = TemporaryFolder()
            for engine in try engines(folder) {
                let place = "\(name), \(type(of: engine))"
                let storage = ObjectStorage<Ranked>(storage: engine)
                try await storage.store(Ranked(rank: 99), forKey: CacheKey(verbatim: "good"))
                try await engine.write(data, key: CacheKey(verbatim: "bad"))
                try await storage.createIndexes()
                for filter in ["@.rank == 99", "@.rank == 2", "@.rank > 0", "!(@.rank == 5)", "@.rank"] {
                    let query = try Query<Ranked>(matching: filter)
                    let found = filter == "@.rank == 2" ? 0 : 1
                    // SQLite takes this for JSON, so an index can exclude it. Then nothing reads it.
                    if name == "Latin-1", engine is SQLiteStorageEngine {
                        let page = try await storage.fetch(query, omittingUndecodable: true)
                        #expect(page.objects.map(\.rank) == Array(repeating: 99, count: found), "\(place), \(filter)")
                        #expect(try await storage.count(query, omittingUndecodable: true) == found, "\(place)")
                        continue
                    }
                    await #expect(throws: StorageError.self, "\(place)") { try await storage.fetch(query) }
                    await #expect(throws: StorageError.self, "\(place)") { try await storage.count(query) }
                    await #expect(throws: StorageError.self, "\(place)") {
                        try await storage.sum(of: \.rank, query)
                    }
                    await #expect(throws: StorageError.self, "\(place)") {
                        try await storage.count(query, by: \.rank)
                    }
                    let page = try await storage.fetch(query, omittingUndecodable: true)
                    #expect(page.objects.map(\.rank) == Array(repeating: 99, count: found), "\(place), \(filter)")
                    #expect(page.undecodable.map(\.code) == [.decodingFailed], "\(place), \(filter)")
                    #expect(try await storage.count(query, omittingUndecodable: true) == found, "\(place), \(filter)")
                    #expect(try await storage.exists(query, omittingUndecodable: true) == (found > 0), "\(place)")
                }
            }
        }
    }

    @Test func `A count without a condition agrees with a fetch about records that can't be read`() async throws {
        let folder = TemporaryFolder()
        let base = MemoryStorageEngine()
        for engine in try engines(folder) + [base.encrypted(with: EncryptionKeyset())] {
            let storage = ObjectStorage<Ranked>(storage: engine)
            for rank in 0..<3 { try await storage.store(Ranked(rank: rank), forKey: CacheKey(verbatim: "\(rank)")) }
            try await storage.createIndexes()
            #expect(try await storage.count(Query()) == 3)
            try await engine.write(Data("{}".utf8), key: CacheKey(verbatim: "undecodable"))
            if try await base.fetchCount() > 0 {
                // This engine can't decrypt what another one has written.
                try await base.write(Data("garbage".utf8), key: CacheKey(verbatim: "undecryptable"))
            }
            let always = Query<Ranked>(where: #Predicate { _ in true })
            for query in [Query(), always] {
                await #expect(throws: StorageError.self) { try await storage.fetch(query) }
                await #expect(throws: StorageError.self) { try await storage.count(query) }
                #expect(try await storage.fetch(query, omittingUndecodable: true).objects.count == 3)
                #expect(try await storage.count(query, omittingUndecodable: true) == 3)
            }
            // With an index, too.
            let few = Query<Ranked>(where: #Predicate { $0.rank < 2 })
            #expect(try await storage.count(few, omittingUndecodable: true) == 2)
        }
    }
}
