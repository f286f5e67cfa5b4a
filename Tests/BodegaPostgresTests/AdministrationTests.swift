#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// What administrators and their other programs do to a database: clocks, settings, poolers, SQL.
@Suite
struct AdministrationTests {

    private func error(_ body: () async throws -> some Any) async -> StorageError? {
        await #expect(throws: StorageError.self) { _ = try await body() }
    }

    // MARK: Clocks

    @Test func `The log is trimmed after the clock of the server was ahead`() async throws {
        let schema = try await Schemas.shared.schema()
        var options = PostgresDatabase.Options.patient()
        (options.changeLogLimit, options.requestAge) = (10, 0)
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
        // 2100-01-01, which is what a clock that was ahead has left.
        try await schema.sql("UPDATE emporium_meta SET value = '4102444800' WHERE name = 'next_trimmed_at'")
        for _ in 1...4 {
            for number in 1...20 { try await engine.write(Data(), key: CacheKey("\(number)")) }
            try await engine.database.trimmer.trim()
        }
        #expect(Int(try await schema.sql("SELECT count(*) FROM emporium_changes")) ?? 0 <= 40)
        #expect(
            try await schema.sql(
                """
                SELECT value::bigint <= extract(epoch FROM clock_timestamp())::bigint FROM emporium_meta
                WHERE name = 'next_trimmed_at'
                """) == "t")
    }

    @Test func `Rows of the log are kept for their age after the clock was ahead`() async throws {
        let schema = try await Schemas.shared.schema()
        var options = PostgresDatabase.Options.patient()
        (options.changeLogLimit, options.requestAge) = (1, 86_400)
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
        try await schema.sql("UPDATE emporium_meta SET value = '4102444800' WHERE name = 'next_trimmed_at'")
        for number in 1...20 {
            try await engine.write(Data(), key: CacheKey("\(number)"))
            try await engine.database.trimmer.trim()
        }
        #expect(try await schema.sql("SELECT count(*) FROM emporium_changes") == "20")
    }

    // MARK: Settings

    @Test(arguments: [
        "DELETE FROM emporium_meta", "TRUNCATE emporium_meta", "DELETE FROM emporium_meta WHERE name = 'history'",
        "DELETE FROM emporium_meta WHERE name = 'trimmed'",
    ])
    func `A database without its settings is damaged, and keeps its items`(_ sql: String) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        let cursor = try await engine.fetchCursor()
        try await schema.sql(sql)
        let again = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        for engine in [engine, again] {
            let errors = [
                await error { try await engine.fetchCursor() }, await error { try await engine.fetchSnapshot() },
                await error { try await engine.fetchChanges(since: cursor, excluding: nil) },
            ]
            #expect(errors.map { $0?.code } == [.damaged, .damaged, .damaged])
            #expect(errors.allSatisfy { $0?.message.contains("emporium_meta") == true })
            #expect(try await engine.fetchAll().map(\.data) == [Data("1".utf8)])
        }
    }

    @Test func `A write waits for a lock beyond the lock_timeout of its role, and then says so`() async throws {
        let schema = try await Schemas.shared.schema()
        let owner = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await owner.write(Data("1".utf8), key: CacheKey("a"))
        let timeout = "options=-clock_timeout%3D20%20"
        let settings =
            schema.url.replacingOccurrences(of: "options=", with: timeout) + "&application_name=\(schema.name)"
        #expect(settings.contains(timeout))
        let engine = try await PostgresStorageEngine(connecting: settings, collection: "notes", options: .patient())
        let held = try await HeldTransaction(schema)
        try await held.run("SELECT data FROM emporium_items FOR UPDATE")
        let task = Task { try await engine.write(Data("2".utf8), key: CacheKey("a")) }
        // Each attempt is a transaction of its own.
        let starts = Locked<Set<String>>([])
        try await waitUntil("the write waited again") {
            let start = try await schema.sql(
                """
                SELECT xact_start FROM pg_stat_activity
                WHERE application_name = '\(schema.name)' AND wait_event_type = 'Lock'
                """)
            return starts.withLock { starts in
                if !start.isEmpty { starts.insert(start) }
                return starts.count >= 3
            }
        }
        try await held.commit()
        try await task.value
        #expect(try await owner.fetch(key: CacheKey("a")) == Data("2".utf8))

        // Until the time limit.
        var options = PostgresDatabase.Options.patient()
        options.timeout = 0.3
        let hasty = try await PostgresStorageEngine(connecting: settings, collection: "notes", options: options)
        let again = try await HeldTransaction(schema)
        try await again.run("SELECT data FROM emporium_items FOR UPDATE")
        let error = await error { try await hasty.write(Data("3".utf8), key: CacheKey("a")) }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("lock_timeout") == true)
        try await again.commit()
        #expect(try await owner.fetch(key: CacheKey("a")) == Data("2".utf8))
    }

    // MARK: SQL

    @Test func `After a change with SQL and a new history, a follower takes a snapshot`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        let cursor = try await engine.fetchCursor()
        try await schema.sql("UPDATE emporium_items SET data = '2'")
        let delta = try await engine.fetchChanges(since: cursor, excluding: nil)
        #expect(delta?.changes.isEmpty == true)
        // As in the guide.
        try await schema.sql("UPDATE emporium_meta SET value = gen_random_uuid()::text WHERE name = 'history'")
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        #expect(try await engine.fetchSnapshot().items.map(\.data) == [Data("2".utf8)])
    }

    // MARK: Poolers

    /// The messages are those of PgBouncer 1.18: `src/server.c`, `src/janitor.c` and `src/client.c`.
    @Test(arguments: [
        ("transaction blocks not allowed in statement pooling mode", StorageError.Code.cannotOpen, "session mode"),
        ("query_wait_timeout", .timedOut, "default_pool_size"),
        ("no more connections allowed (max_client_conn)", .timedOut, "default_pool_size"),
    ])
    func `The report of a pooler says what to change`(_ text: String, _ code: StorageError.Code, _ hint: String) {
        let failure = PostgresFailure(.refused(code: "08P01"), text)
        let error = StorageError.postgres(failure) as? StorageError
        #expect(error?.code == code)
        #expect(error?.message.contains(hint) == true)
        #expect(failure.isOutage == (code == .timedOut))
    }

    @Test func `Silence through a pooler says what to change, and without one does not`() {
        for kind in [PostgresFailure.Kind.timedOut, .silent] {
            var failure = PostgresFailure(kind, "")
            let plain = StorageError.postgres(failure) as? StorageError
            #expect(plain?.message.contains("pooler") == false)
            failure.isPooled = true
            let pooled = StorageError.postgres(failure) as? StorageError
            #expect(pooled?.code == .timedOut)
            #expect(pooled?.message.contains("maximumConnections") == true)
        }
    }
}
#endif
