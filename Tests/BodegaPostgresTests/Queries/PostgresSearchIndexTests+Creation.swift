#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

// Their creation and removal.
extension PostgresSearchIndexTests {

    @Test("Programs create an index together, while others write, and one of them is killed or cancelled")
    func creation() async throws {
        for seed in Seed.current..<Seed.current + UInt64(max(TestSizes.indexBuilds / 20, 1)) {
            var random = SeededGenerator(seed: seed)
            let schema = try await Schemas.shared.schema()
            let engine = try await engine(schema.url)
            try await engine.write(items(0..<4_000))
            let others = [try await self.engine(schema.url), try await self.engine(schema.url)]
            let pauses = (0..<3).map { _ in Int.random(in: 0..<8, using: &random) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for other in others {
                    group.addTask { try await other.createIndex(index) }
                }
                group.addTask {
                    for number in 0..<40 {
                        try await engine.write(items(4_000 + number..<4_001 + number))
                        try await engine.remove(key: CacheKey(verbatim: "\(number * 90)"))
                        if number % 8 == pauses[0] { try await engine.write(items(number * 90..<number * 90 + 50)) }
                    }
                }
                group.addTask {
                    // Ends a session that creates the index, as when its process is killed.
                    for _ in 0..<20 {
                        try await schema.sql(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_locks
                            WHERE locktype = 'advisory' AND granted AND objid IS NOT NULL
                                AND relation IS NULL AND classid = \(IndexBuilder.lockNumber)
                                AND objid = (SELECT 'emporium_items'::regclass::oid) AND \(pauses[1]) > 3 LIMIT 1
                            """)
                    }
                }
                let cancelled = Task { try await engine.createIndex(index) }
                for _ in 0..<pauses[2] * 20 { await Task.yield() }
                cancelled.cancel()
                _ = await cancelled.result
                try await group.waitForAll()
            }
            #expect(try await engine.fetchIndexes() == [index], "seed \(seed)")
            let actual = try await found("tenth", in: engine)
            var scanned: [String] = []
            for (key, data) in try await engine.fetchAll() where data.contains(bytes: "tenth") {
                scanned.append(key.rawValue)
            }
            #expect(actual == scanned, "seed \(seed)")
            while try await engine.database.searchUpdates.update(engine.number) { continue }
            #expect(try await found("tenth", in: engine) == scanned, "seed \(seed)")
            try await engine.removeIndex(index)
            #expect(try await schema.sql(Self.leftovers) == "0", "seed \(seed)")
            for engine in others + [engine] { await engine.close() }
            try await schema.drop()
        }
    }

    /// The number of things whose name is that of a search index or begins with it.
    private static let leftovers = """
        SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                AND starts_with(relname::text, 'emporium_search_'))
            + (SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
                AND starts_with(proname::text, 'emporium_search_'))
            + (SELECT count(*) FROM pg_trigger WHERE starts_with(tgname::text, 'emporium_search_')
                AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace))
        """

    @Test("A removed collection leaves nothing of its index")
    func collections() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.write(items(0..<20))
        try await engine.createIndex(index)
        try await engine.database.removeCollection(named: "notes")
        #expect(try await schema.sql(Self.leftovers) == "0")
    }

    @Test("A collection that is removed while its index is created leaves nothing of it")
    func removalDuringCreation() async throws {
        let schema = try await Schemas.shared.schema()
        for round in 0..<6 {
            let engine = try await engine(schema.url)
            let remover = try await self.engine(schema.url)
            try await engine.write(items(0..<200))
            let ordered = StorageIndex("id")
            let creations = [index, ordered].map { index in Task { try await engine.createIndex(index) } }
            // Some rounds remove the collection when something has been created.
            if round % 2 == 0 {
                while try await schema.sql(Self.leftovers) == "0" { await Task.yield() }
            }
            try await remover.database.removeCollection(named: "notes")
            for creation in creations { _ = await creation.result }
            #expect(try await schema.sql(Self.leftovers) == "0")
            let others =
                "SELECT count(*) FROM pg_class WHERE relname LIKE 'emporium\\_index\\_%\\_\(engine.number)\\_%'"
            #expect(try await schema.sql(others) == "0")
            await engine.close()
            await remover.close()
        }
    }

    @Test(
        "An index without all of its triggers is not used, and is created again",
        arguments: [
            "DROP TRIGGER {table}_delete ON emporium_items", "DROP TRIGGER {table}_update ON emporium_items_1",
            "ALTER TABLE emporium_items DISABLE TRIGGER {table}_insert",
            "ALTER TABLE emporium_items_0 ENABLE TRIGGER {table}_insert",
            "CREATE OR REPLACE FUNCTION {table}_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NULL; END'",
            "ALTER FUNCTION {table}_note() SECURITY INVOKER", "DROP INDEX {table}_words", "DROP TABLE {table}_notes",
            "COMMENT ON TABLE {table} IS 'search: [\"words\",\"other\"]'", "DROP TABLE {table}",
        ])
    func damage(_ statement: String) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.write(items(0..<50))
        try await engine.createIndex(index)
        let table = SearchTable(index: index, collection: engine.number)
        try await schema.sql(statement.replacingOccurrences(of: "{table}", with: table.name))
        #expect(try await engine.fetchIndexes() == [])
        let error = await #expect(throws: StorageError.self) { try await found("tenth", in: engine) }
        #expect(error?.code == .invalidArgument)
        try await engine.createIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        try await engine.write(items(50..<100))
        try await engine.remove(key: CacheKey(verbatim: "0"))
        #expect(try await found("tenth", in: engine) == Array(expected(0..<100).dropFirst()))
        try await engine.removeIndex(index)
        #expect(try await schema.sql(Self.leftovers) == "0")
    }

    @Test("What PostgreSQL can't have is refused")
    func refusals() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        let indexes = [
            StorageIndex.search(["text"], form: .substrings), .search((0...64).map { "c\($0)" }), .search(["\0"]),
        ]
        for index in indexes {
            let error = await #expect(throws: StorageError.self) { try await engine.createIndex(index) }
            #expect(error?.code == .invalidArgument, "\(index)")
        }
        #expect(try await schema.sql(Self.leftovers) == "0")
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let name = database.url.split(separator: "/").last.map(String.init) ?? ""
        try await database.sql("CREATE DATABASE \(name)_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        let latin = try await self.engine(database.url + "_latin")
        try await latin.write(items(0..<5))
        let error = await #expect(throws: StorageError.self) { try await latin.createIndex(index) }
        #expect(error?.code == .invalidArgument && error?.message.contains("LATIN1") == true)
        #expect(try await latin.fetchIndexes() == [])
        await latin.close()
    }
}

extension Data {
    fileprivate func contains(bytes text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
#endif
