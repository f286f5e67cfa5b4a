#if Postgres
import Bodega
import BodegaPostgres
import Foundation
import TestSupport
import Testing

@Suite
struct MigrationTests {

    @Test func `Programs that open a new database concurrently create its tables once`() async throws {
        let schema = try await Schemas.shared.schema()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let engine = try await PostgresStorageEngine(
                        connecting: schema.url, collection: "shared", options: .patient())
                    try await engine.write(Data("\(number)".utf8), key: CacheKey("\(number)"))
                    engine.database.disconnect()
                }
            }
            try await group.waitForAll()
        }
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "shared", options: .patient())
        #expect(try await engine.fetchCount() == 8)
        #expect(try await engine.database.collectionNames() == ["shared"])
        #expect(try await schema.sql("SELECT string_agg(version::text, ',') FROM emporium_migrations") == "0,1")
    }

    @Test func `The first program determines and records the number of partitions`() async throws {
        let schema = try await Schemas.shared.schema()
        for partitions in [3, 5] {
            let database = try await PostgresDatabase(connecting: schema.url, options: .patient(partitions: partitions))
            database.disconnect()
        }
        let count = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'emporium_items'::regclass"
        #expect(try await schema.sql(count) == "3")
        #expect(try await schema.sql("SELECT value FROM emporium_meta WHERE name = 'partitions'") == "3")
    }

    @Test func `Tables of a later version are rejected and left unchanged`() async throws {
        let schema = try await Schemas.shared.schema()
        try await PostgresDatabase(connecting: schema.url, options: .patient()).disconnect()
        try await schema.sql("INSERT INTO emporium_migrations (version) VALUES (99)")
        let error = await #expect(throws: StorageError.self) {
            try await PostgresDatabase(connecting: schema.url, options: .patient())
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("99") == true)
    }

    @Test func `A migration that fails leaves nothing behind`() async throws {
        let schema = try await Schemas.shared.schema()
        // Makes the second to last statement of the migration fail.
        try await schema.sql("CREATE TABLE emporium_changes (a int)")
        await #expect(throws: StorageError.self) {
            try await PostgresDatabase(connecting: schema.url, options: .patient())
        }
        let tables =
            "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_tables WHERE schemaname = '\(schema.name)'"
        #expect(try await schema.sql(tables) == "emporium_changes,emporium_migrations")
        try await schema.sql("DROP TABLE emporium_changes")
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        #expect(try await engine.fetchCount() == 0)
    }

    @Test func `Collections can have any name, and share only the connections`() async throws {
        let schema = try await Schemas.shared.schema()
        let database = try await PostgresDatabase(connecting: schema.url, options: .patient())
        let names = ["notes", "Notes", "e\u{301}", "\u{E9}", "a\u{0}b", "'; --", String(repeating: "n", count: 300)]
        for name in names {
            let engine = try await database.collection(named: name)
            try await engine.write(Data(name.utf8), key: CacheKey("name"))
        }
        #expect(try await database.collectionNames().map { Array($0.utf8) } == names.map { Array($0.utf8) })
        for name in names {
            let items = try await database.collection(named: name).fetchAllData()
            #expect(items == [Data(name.utf8)])
        }
        let error = await #expect(throws: StorageError.self) { try await database.collection(named: "") }
        #expect(error?.code == .invalidArgument)
    }
}
#endif
