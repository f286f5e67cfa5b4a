#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite("A removed collection of a database")
struct CollectionRemovalTests {

    private let key = CacheKey("key")
    private let data = Data(#"{"n":1}"#.utf8)

    private func code(_ body: () async throws -> Any) async -> StorageError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            #expect((error as? StorageError)?.isOfRemovedCollection == true, "\(error)")
            return (error as? StorageError)?.code
        }
    }

    @Test("takes its items and indexes with it, and no others")
    func contents() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let postgres = try await PostgresDatabase(connecting: database.url, options: .patient())
        let kept = try await postgres.collection(named: "kept")
        try await kept.write(data, key: key)
        try await kept.createIndex(StorageIndex("n"))
        let name = "é, with \"quotation marks\""
        let removed = try await postgres.collection(named: name)
        try await removed.write((0..<3_000).map { (CacheKey("\($0)"), Data(#"{"n":\#($0)}"#.utf8)) })
        try await removed.createIndex(StorageIndex("n"))
        func indexes() async throws -> String {
            try await database.sql("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%emporium_sort_key%'")
        }
        let before = try #require(Int(try await indexes()))
        for absent in ["", "absent", "\u{65}\u{301}, with \"quotation marks\""] {
            try await postgres.removeCollection(named: absent)
        }
        #expect(try await removed.fetchCount() == 3_000)
        try await postgres.removeCollection(named: name)
        #expect(try await postgres.collectionNames() == ["kept"])
        #expect(try await database.sql("SELECT count(*) FROM emporium_items") == "1")
        #expect(try await Int(indexes()) == before / 2)
        #expect(try await kept.fetchAllData() == [data])
        try await postgres.removeCollection(named: name)
        postgres.disconnect()
    }

    @Test("is reported by the engines on it, also when its name is used again", arguments: [false, true])
    func openEngines(isOther: Bool) async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let first = try await PostgresDatabase(connecting: database.url, options: .patient())
        let second = isOther ? try await PostgresDatabase(connecting: database.url, options: .patient()) : first
        let removed = try await first.collection(named: "c")
        try await removed.write(data, key: key)
        let cursor = try await removed.fetchCursor()
        try await second.removeCollection(named: "c")
        let many = (0..<1_000).map { (CacheKey("\($0)"), data) }
        for _ in 0..<2 {
            #expect(await code { try await removed.write(data, key: key) } == .placeRemoved)
            #expect(await code { try await removed.write([(key, data), (CacheKey("b"), data)]) } == .placeRemoved)
            #expect(await code { try await removed.write(many) } == .placeRemoved)
            #expect(await code { try await removed.remove(key: key) } == .placeRemoved)
            #expect(await code { try await removed.apply([.removeAll]) } == .placeRemoved)
            #expect(await code { try await removed.apply([.remove(key: key)]) } == .placeRemoved)
            #expect(await code { try await removed.apply([], if: [.init(key: key, data: nil)]) } == .placeRemoved)
            #expect(
                await code {
                    try await removed.apply([.write(key: key, data: data)], if: [.init(key: key, data: nil)])
                } == .placeRemoved)
            #expect(await code { try await removed.apply([], if: [.init(key: key, data: data)]) } == .placeRemoved)
            #expect(await code { try await removed.fetch(key: key) as Any } == .placeRemoved)
            #expect(await code { try await removed.fetch(keys: [key]) } == .placeRemoved)
            #expect(await code { try await removed.fetchAll() } == .placeRemoved)
            #expect(await code { try await removed.fetchAllData() } == .placeRemoved)
            #expect(await code { try await removed.fetchKeys() } == .placeRemoved)
            #expect(await code { try await removed.fetchKeys(among: [key]) } == .placeRemoved)
            #expect(await code { try await removed.fetchCount() } == .placeRemoved)
            #expect(await code { try await removed.fetchDates(key: key) as Any } == .placeRemoved)
            #expect(await code { try await removed.fetchAllDates() } == .placeRemoved)
            #expect(await code { try await removed.fetchItems(keys: [key]) } == .placeRemoved)
            #expect(await code { try await removed.fetchStream(key: key) as Any } == .placeRemoved)
            #expect(
                await code { try await removed.fetch(FetchRequest([key], [.data, .place], index: nil)).value }
                    == .placeRemoved)
            #expect(await code { try await removed.count(.all(after: nil), upTo: 1) } == .placeRemoved)
            #expect(await code { try await removed.scan([.all(after: nil)]) { { _, _ in true } } } == .placeRemoved)
            #expect(await code { try await removed.createIndex(StorageIndex("n")) } == .placeRemoved)
            #expect(await code { try await removed.fetchCursor() } == .placeRemoved)
            #expect(await code { try await removed.fetchSnapshot() } == .placeRemoved)
            #expect(try await removed.fetchChanges(since: cursor, excluding: nil) == nil)
            let new = try await first.collection(named: "c")
            try await new.write(data, key: key)
            #expect(try await new.fetchCount() == 1)
        }
        #expect(try await database.sql("SELECT count(*) FROM emporium_items") == "1")
        for database in [first, second] { database.disconnect() }
    }

    @Test("ends its followers with the error")
    func followers() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let first = try await PostgresDatabase(connecting: database.url, options: .patient())
        let second = try await PostgresDatabase(connecting: database.url, options: .patient())
        let followed = try await first.collection(named: "c")
        try await followed.write(data, key: key)
        let cursor = try await followed.fetchCursor()
        let feed = Task {
            for try await update in followed.changes(since: cursor) {
                if case .snapshot = update { Issue.record("The follower received a snapshot.") }
            }
        }
        try await second.removeCollection(named: "c")
        #expect(await code { try await feed.value } == .placeRemoved)
        for database in [first, second] { database.disconnect() }
    }

    @Test("keeps no item of writers that write at the same time, and each of them knows whether it has written")
    func concurrentWriters() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let first = try await PostgresDatabase(connecting: database.url, options: .patient())
        let second = try await PostgresDatabase(connecting: database.url, options: .patient())
        for round in 0..<5 {
            let engine = try await first.collection(named: "c")
            let written = Locked(0)
            let writers = (0..<4).map { writer in
                Task {
                    for number in 0... {
                        let name = "\(writer)-\(number)"
                        switch number % 3 {
                        case 0: try await engine.write(data, key: CacheKey(name))
                        case 1: try await engine.write((0..<600).map { (CacheKey("\(name)-\($0)"), data) })
                        default:
                            // SERIALIZABLE.
                            try await engine.apply([
                                .remove(key: CacheKey("\(writer)-\(number - 2)")),
                                .write(key: CacheKey(name), data: data),
                            ])
                        }
                        written.withLock { $0 += 1 }
                    }
                }
            }
            try await waitUntil("writers write") { written.withLock { $0 } > 8 }
            try await second.removeCollection(named: "c")
            for writer in writers { #expect(await code { try await writer.value } == .placeRemoved) }
            #expect(try await database.sql("SELECT count(*) FROM emporium_items") == "0", "round \(round)")
            #expect(try await second.collectionNames() == [])
        }
        for database in [first, second] { database.disconnect() }
    }
}
#endif
