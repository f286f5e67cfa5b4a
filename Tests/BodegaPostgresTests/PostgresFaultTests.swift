#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct PostgresFaultTests {

    private func error(_ body: () async throws -> some Any) async -> StorageError? {
        await #expect(throws: StorageError.self) { _ = try await body() }
    }

    @Test func `A wrong password is reported as such, and errors contain no password`() async throws {
        let server = try await PostgresServer.shared()
        let url = server.url().replacingOccurrences(of: "emporium:", with: "emporium:wrong-")
        let error = await error { try await PostgresDatabase(connecting: url) }
        #expect(error?.code == .permissionDenied)
        #expect(error.map { !"\($0)".contains("wrong-") && !"\($0)".contains(PostgresServer.password) } == true)
    }

    @Test func `A missing database, an unreachable server and a server without TLS are distinguished`()
        async throws
    {
        let server = try await PostgresServer.shared()
        let missing = await error { try await PostgresDatabase(connecting: server.url(database: "missing")) }
        #expect(missing?.code == .cannotOpen)
        let unreachable = await error {
            try await PostgresDatabase(connecting: "postgres://u:t0p-secret@127.0.0.1:1/a")
        }
        #expect(unreachable?.code == .unreachable)
        let noTLS = await error { try await PostgresDatabase(connecting: server.url() + "?sslmode=require") }
        #expect(noTLS?.code == .unreachable)
        for error in [missing, unreachable, noTLS] {
            #expect(error.map { !"\($0)".contains(PostgresServer.password) && !"\($0)".contains("t0p-secret") } == true)
        }
    }

    @Test func `A user without the rights to create and write can read`() async throws {
        let schema = try await Schemas.shared.schema()
        let owner = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await owner.write(Data("1".utf8), key: CacheKey("a"))
        let user = "reader_\(schema.name)"
        try await schema.sql(
            """
            CREATE ROLE \(user) LOGIN PASSWORD 'pa55';
            GRANT USAGE ON SCHEMA \(schema.name) TO \(user);
            GRANT SELECT ON ALL TABLES IN SCHEMA \(schema.name) TO \(user);
            """
        )
        let rest = schema.url.split(separator: "@").dropFirst().joined(separator: "@")
        let reader = try await PostgresStorageEngine(
            connecting: "postgresql://\(user):pa55@\(rest)", collection: "notes", options: .patient())
        #expect(try await reader.fetch(key: CacheKey("a")) == Data("1".utf8))
        #expect(try await reader.fetchAll().count == 1)
        #expect(try await reader.fetchSnapshot().items.count == 1)
        let write = await error { try await reader.write(Data(), key: CacheKey("b")) }
        #expect(write?.code == .permissionDenied)
        let items = (0..<1_000).map { (key: CacheKey("\($0)"), data: Data()) }
        let bulk = await error { try await reader.write(items) }
        #expect(bulk?.code == .permissionDenied)
        #expect(try await owner.fetchCount() == 1)
    }

    @Test func `A write to a full disk leaves the stored items unchanged`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        // Raises the SQLSTATE of a full disk, as the server supports no quota.
        try await schema.sql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER refusal BEFORE INSERT ON emporium_items FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        for count in [1, 10, 2_000] {
            let items = (0..<count).map { (key: CacheKey("\($0)"), data: Data(count: 100)) }
            let error = await error { try await engine.write(items) }
            #expect(error?.code == .storageFull)
        }
        #expect(try await engine.fetchAll().map(\.data) == [Data("1".utf8)])
    }

    @Test(arguments: [true, false])
    func `Cancelling a task stops the statement on the server`(isShortRead: Bool) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let lock = try await SessionPool(target: ConnectionTarget(schema.url), limit: 1, connectTimeout: 60)
            .makeSession(until: .after(60))
        // Opens the connection and prepares the statement.
        _ = try await engine.fetch(key: CacheKey("a"))
        _ = try await lock.run(
            ["BEGIN", "LOCK TABLE emporium_items IN ACCESS EXCLUSIVE MODE"].map { Command(Statement($0)) }, patience: 60
        )
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(schema.name).emporium_items'::regclass
            """
        let task = Task {
            if isShortRead {
                _ = try await engine.fetch(key: CacheKey("a"))
            } else {
                try await engine.write(Data(), key: CacheKey("a"))
            }
        }
        try await waitUntil("the statement waited") { try await schema.sql(waiting) == "1" }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await waitUntil("the statement was stopped") { try await schema.sql(waiting) == "0" }
        _ = try await lock.run(Command(Statement("ROLLBACK")), patience: 60)
        try await engine.write(Data("1".utf8), key: CacheKey("b"))
        #expect(try await engine.fetch(key: CacheKey("b")) == Data("1".utf8))
        #expect(try await engine.fetch(key: CacheKey("a")) == nil)
    }

    @Test func `A cancelled read does not disturb other reads on its connection`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(maximumConnections: 2))
        let keys = (0..<100).map { CacheKey("\($0)") }
        try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                for key in keys {
                    group.addTask {
                        let data = try await engine.fetch(key: key)
                        #expect(data == Data(key.rawValue.utf8))
                    }
                }
                let task = Task { try await engine.fetch(key: keys[round]) }
                task.cancel()
            }
            try await group.waitForAll()
        }
    }

    @Test func `A statement that takes too long ends with a typed error, and the next one works`() async throws {
        let schema = try await Schemas.shared.schema()
        let options = PostgresDatabase.Options(connectTimeout: 120, timeout: 10)
        let operations: [@Sendable (PostgresStorageEngine) async throws -> Void] = [
            { _ = try await $0.fetch(key: CacheKey("a")) }, { _ = try await $0.fetchAll() },
            { try await $0.write(Data("1".utf8), key: CacheKey("a")) },
        ]
        var engines: [PostgresStorageEngine] = []
        for operation in operations {
            let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
            // Opens the connection before the table is locked.
            try await operation(engine)
            engines.append(engine)
        }
        let lock = try await SessionPool(target: ConnectionTarget(schema.url), limit: 1, connectTimeout: 60)
            .makeSession(until: .after(60))
        _ = try await lock.run(
            ["BEGIN", "LOCK TABLE emporium_items IN ACCESS EXCLUSIVE MODE"].map { Command(Statement($0)) }, patience: 60
        )
        // Together, because each one takes as long as its time limit.
        let codes = await withTaskGroup(of: StorageError.Code?.self) { [engines] group in
            for (engine, operation) in zip(engines, operations) {
                group.addTask { await error { try await operation(engine) }?.code }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == [.timedOut, .timedOut, .timedOut])
        _ = try await lock.run(Command(Statement("ROLLBACK")), patience: 60)
        for (engine, operation) in zip(engines, operations) {
            try await waitUntil("the server answered again") {
                do {
                    try await operation(engine)
                    return true
                } catch let error as StorageError {
                    print("not yet:", error)
                    return false
                }
            }
        }
    }

    @Test func `Operations on a closed engine throw closed`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        engine.database.disconnect()
        engine.database.disconnect()
        for attempt in [
            await error { try await engine.fetch(key: CacheKey("a")) }, await error { try await engine.fetchAll() },
            await error { try await engine.write(Data(), key: CacheKey("a")) },
        ] {
            #expect(attempt?.code == .closed)
        }
        for await _ in engine.changeSignals() {}
    }

    @Test func `A released engine closes its connections`() async throws {
        let schema = try await Schemas.shared.schema()
        let name = "app_\(schema.name)"
        var followed: AsyncStream<Void>.Iterator?
        do {
            let engine = try await PostgresStorageEngine(
                connecting: schema.url + "&application_name=\(name)", collection: "notes", options: .patient())
            try await engine.write(Data(), key: CacheKey("a"))
            _ = try await engine.fetch(key: CacheKey("a"))
            let signals = Locked<AsyncStream<Void>?>(nil)
            // A moment does not keep it.
            try await engine.database.atOneMoment { signals.withLock { $0 = engine.changeSignals() } }
            var iterator = signals.withLock { $0 }?.makeAsyncIterator()
            _ = await iterator?.next()
            followed = iterator
        }
        try await waitUntil("all connections were closed") {
            try await schema.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'") == "0"
        }
        #expect(followed != nil)
    }
}
#endif
