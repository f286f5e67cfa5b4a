#if Postgres
import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Tests of followers of a restored database, and of adopting its log.
@Suite("A follower")
struct RestoreTests {

    private func engine(_ url: String, _ options: PostgresDatabase.Options = .patient()) async throws
        -> PostgresStorageEngine
    {
        try await PostgresStorageEngine(connecting: url, collection: "notes", options: options)
    }

    @Test("of a server with restored files receives a snapshot")
    func files() async throws {
        let server = try await PostgresServer.launch()
        let first = try await engine(server.url())
        for name in ["a", "b"] { try await first.write(Data("1".utf8), key: CacheKey(name)) }
        _ = try await first.fetchCursor()
        first.database.disconnect()
        try await server.stop()
        let backup = try await server.backUpFiles()
        try await server.start()

        let second = try await engine(server.url())
        try await second.write((0..<10).map { (CacheKey("\($0)"), Data()) })
        for number in 10..<20 { try await second.write(Data(), key: CacheKey("\(number)")) }
        let cursor = try await second.fetchCursor()
        second.database.disconnect()
        try await server.stop()
        try await server.restoreFiles(backup)
        try await server.start()

        // The server assigns the numbers of the lost transactions again, up to that of the cursor and beyond.
        let third = try await engine(server.url())
        for number in 0..<40 { try await third.write(Data(), key: CacheKey("new \(number)")) }
        #expect(try await third.fetchChanges(since: cursor, excluding: nil) == nil)
        var feed = third.changes(since: cursor).makeAsyncIterator()
        guard case .snapshot(let snapshot) = try await feed.next() else {
            Issue.record("The follower did not receive a snapshot.")
            return
        }
        #expect(snapshot.items.map(\.key) == [CacheKey("a"), CacheKey("b")] + (0..<40).map { CacheKey("new \($0)") })
        third.database.disconnect()
    }

    @Test("of tables that were loaded from a dump receives a snapshot", arguments: [true, false])
    func dump(isNewRowOnly: Bool) async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let engine = try await engine(database.url)
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        let before = try await engine.fetchCursor()
        let tables = "emporium_items, emporium_changes, emporium_meta, emporium_collections"
        let dump = try await database.server.dump(database.name, ["--data-only"])
        try await engine.write(Data("2".utf8), key: CacheKey("lost"))
        let cursor = try await engine.fetchCursor()
        if isNewRowOnly {
            // Only the rows since the dump are missing, among them the row of the cursor.
            try await database.sql(
                """
                DELETE FROM emporium_changes WHERE id = (SELECT max(id) FROM emporium_changes);
                DELETE FROM emporium_items WHERE position = (SELECT max(position) FROM emporium_items);
                """
            )
            #expect(try await engine.fetchChanges(since: before, excluding: nil)?.changes.isEmpty == true)
        } else {
            try await database.sql("TRUNCATE \(tables); DELETE FROM emporium_migrations")
            try await database.sql(dump)
            #expect(try await engine.fetchChanges(since: before, excluding: nil) == nil)
        }
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        let snapshot = try await engine.fetchSnapshot()
        #expect(snapshot.items.map(\.key) == [CacheKey("a")])
        try await engine.write(Data("3".utf8), key: CacheKey("b"))
        let delta = try #require(try await engine.fetchChanges(since: snapshot.cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [CacheKey("b")])
        engine.database.disconnect()
    }

    /// Loads a database with its log into another server, which has lower transaction numbers.
    private func restoredElsewhere() async throws -> (server: PostgresServer, readerURL: String) {
        let database = try await PostgresServer.shared().makeDatabase()
        let original = try await engine(database.url)
        for number in 0..<20 { try await original.write(Data(), key: CacheKey("\(number)")) }
        _ = try await original.fetchCursor()
        let dump = try await database.server.dump(database.name, ["--no-owner"])
        original.database.disconnect()
        let server = try await PostgresServer.launch()
        try await server.sql(dump)
        // Simulates an original server that had been in use for longer.
        try await server.sql(
            """
            UPDATE emporium_changes SET transaction = (transaction::text::bigint + 1000000)::text::xid8;
            CREATE ROLE reader LOGIN PASSWORD 'pa55';
            GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
            """
        )
        let rest = server.url().split(separator: "@").dropFirst().joined(separator: "@")
        return (server, "postgresql://reader:pa55@\(rest)")
    }

    @Test("without the right to write fails on a restored dump, and follows after a writer has opened it")
    func readerOfADump() async throws {
        let (server, url) = try await restoredElsewhere()
        let reader = try await engine(url)
        #expect(try await reader.fetchAll().count == 20)
        for _ in 0..<2 {
            var feed = reader.changes().makeAsyncIterator()
            let failure = await #expect(throws: StorageError.self) { try await feed.next() }
            #expect(failure?.code == .readOnly)
            #expect(failure?.message.contains("once as a user who may write") == true)
        }
        let old = StorageCursor(rawValue: "x;;1:2:")
        #expect(try await reader.fetchChanges(since: old, excluding: nil) == nil)

        let writer = try await engine(server.url())
        let snapshot = try await reader.fetchSnapshot()
        #expect(snapshot.items.count == 20)
        #expect(try await reader.fetchChanges(since: snapshot.cursor, excluding: nil)?.changes.isEmpty == true)
        try await writer.write(Data(), key: CacheKey("new"))
        let delta = try #require(try await reader.fetchChanges(since: snapshot.cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [CacheKey("new")])
        #expect(try await reader.fetchChanges(since: delta.cursor, excluding: nil)?.changes.isEmpty == true)
        reader.database.disconnect()
        writer.database.disconnect()
    }

    @Test("of a standby finds changes without notifications, and continues after its promotion")
    func standby() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: true)
        let writer = try await engine(primary.url())
        try await writer.write(Data("1".utf8), key: CacheKey("a"))
        var options = PostgresDatabase.Options.patient()
        options.mustExist = true
        let written = try await primary.sql("SELECT pg_current_wal_insert_lsn()")
        try await waitUntil("the standby had the item") {
            try await standby.sql("SELECT pg_last_wal_replay_lsn() >= '\(written)'") == "t"
        }
        let reader = try await engine(standby.url(), options)
        var feed = reader.changes().makeAsyncIterator()
        guard case .snapshot(let snapshot) = try await feed.next() else {
            Issue.record("The follower did not receive a snapshot.")
            return
        }
        #expect(snapshot.items.map(\.key) == [CacheKey("a")])
        for name in ["b", "c"] {
            try await writer.write(Data("2".utf8), key: CacheKey(name))
            guard case .changes(let delta) = try await feed.next() else {
                Issue.record("The follower received another snapshot.")
                return
            }
            #expect(delta.changes.map(\.key) == [CacheKey(name)])
        }
        // A late commit is not skipped, although snapshots of a standby do not list open transactions.
        let held = try await HeldTransaction(connecting: primary.url())
        try await held.write("late", collection: writer.number)
        try await writer.write(Data("3".utf8), key: CacheKey("early"))
        try await waitUntil("the standby had the early item") {
            try await reader.fetch(key: CacheKey("early")) != nil
        }
        let before = try #require(feed.cursor)
        let first = try #require(try await reader.fetchChanges(since: before, excluding: nil))
        let again = try #require(try await reader.fetchChanges(since: first.cursor, excluding: nil))
        try await held.commit()
        try await waitUntil("the standby had the late change") {
            try await standby.sql("SELECT count(*) FROM emporium_changes WHERE 'late'::bytea = substr(written[1], 2)")
                == "1"
        }
        try await writer.write(Data("4".utf8), key: CacheKey("last"))
        var keys = (first.changes + again.changes).map(\.key)
        var place = again.cursor
        try await waitUntil("the standby had all changes") {
            let delta = try #require(try await reader.fetchChanges(since: place, excluding: nil))
            keys += delta.changes.map(\.key)
            place = delta.cursor
            return keys.contains(CacheKey("last"))
        }
        #expect(keys.count == 3 && Set(keys) == [CacheKey("early"), CacheKey("late"), CacheKey("last")])
        writer.database.disconnect()
        try await primary.kill()
        try await standby.promote()
        let cursor = place
        try await reader.write(Data("3".utf8), key: CacheKey("d"))
        let delta = try #require(try await reader.fetchChanges(since: cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [CacheKey("d")])
        reader.database.disconnect()
    }

    @Test("needs no right to call functions of the server")
    func roles() async throws {
        let server = try await PostgresServer.launch()
        let owner = try await engine(server.url())
        try await owner.write(Data("1".utf8), key: CacheKey("a"))
        try await server.sql(
            """
            CREATE ROLE writer LOGIN PASSWORD 'pa55';
            REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO writer;
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO writer;
            """
        )
        let rest = server.url().split(separator: "@").dropFirst().joined(separator: "@")
        let cursor = try await owner.fetchCursor()
        var keys: [CacheKey] = []
        for round in 0..<3 {
            let other = try await engine("postgresql://writer:pa55@\(rest)")
            for engine in [other, owner] {
                let key = CacheKey("\(round) \(keys.count)")
                try await engine.write(Data(), key: key)
                keys.append(key)
                let delta = try #require(try await engine.fetchChanges(since: cursor, excluding: nil))
                #expect(delta.changes.map(\.key) == keys)
                _ = try await engine.fetchSnapshot()
            }
            other.database.disconnect()
        }
        #expect(try await server.sql("SELECT count(*) FROM emporium_changes") == "7")
        owner.database.disconnect()
    }

    @Test("reads only new rows while another program keeps a transaction open")
    func openTransaction() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let engine = try await engine(database.url)
        let schema = Schemas.Schema(name: "public", database: database)
        let held = try await HeldTransaction(schema)
        try await held.write("held", collection: engine.number)
        try await database.sql(
            """
            SET synchronous_commit TO off;
            CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN
                FOR number IN 1..20000 LOOP
                    INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
                    VALUES (\(engine.number), gen_random_uuid(), gen_random_uuid(), 0, '{}', '{}', false);
                    COMMIT;
                END LOOP;
            END $$;
            CALL fill();
            """
        )
        let cursor = try #require(ChangeCursor(try await engine.fetchCursor()))
        let before = try await database.rowsRead(by: ChangeStatements.changes.sql(engine.number, cursor.seen))
        #expect(before < 100, "The query read \(before) of 20,000 rows, and none was new.")
        // The control reads all rows since the oldest open transaction.
        let naive = """
            SELECT id FROM emporium_changes WHERE transaction >= pg_snapshot_xmin('\(cursor.seen)'::pg_snapshot)
                AND NOT pg_visible_in_snapshot(transaction, '\(cursor.seen)'::pg_snapshot)
            """
        #expect(try await database.rowsRead(by: naive) >= 20_000)
        try await engine.write(Data(), key: CacheKey("new"))
        let after = try await database.rowsRead(by: ChangeStatements.changes.sql(engine.number, cursor.seen))
        #expect((1..<100).contains(after))
        try await held.commit()
        let delta = try #require(try await engine.fetchChanges(since: cursor.storageCursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [CacheKey("held"), CacheKey("new")])
        engine.database.disconnect()
    }
}

extension Statement {
    /// The text with values instead of parameters.
    fileprivate func sql(_ collection: Int32, _ seen: String) -> String {
        sql.replacingOccurrences(of: "$1", with: "\(collection)").replacingOccurrences(of: "$2", with: "'\(seen)'")
    }
}

extension PostgresServer.Database {
    /// Returns the number of rows of the log that a query fetches, by an index or a scan.
    fileprivate func rowsRead(by query: String) async throws -> Int {
        let count = """
            SELECT sum(pg_stat_get_xact_tuples_fetched(relation) + pg_stat_get_xact_tuples_returned(relation))
            FROM (
                SELECT indexrelid AS relation FROM pg_index WHERE indrelid = 'emporium_changes'::regclass
                UNION ALL SELECT 'emporium_changes'::regclass
            ) AS relations
            """
        let answer = try await sql(
            "ANALYZE emporium_changes; BEGIN; CREATE TEMP TABLE found AS \(query); \(count); ROLLBACK")
        return Int(answer.split(separator: "\n").compactMap { Int($0) }.last ?? .max)
    }
}
#endif
