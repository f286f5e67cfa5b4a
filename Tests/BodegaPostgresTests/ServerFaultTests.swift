#if Postgres
import Bodega
import BodegaPostgres
import Foundation
import TestSupport
import Testing

/// Tests of operations while the server restarts, is silent or has no connection left.
@Suite("A server in trouble")
struct ServerFaultTests {

    @Test("that restarts under load loses no acknowledged write, and operations wait for it")
    func restart() async throws {
        let server = try await PostgresServer.launch()
        let options = PostgresDatabase.Options(maximumConnections: 4, timeout: 180)
        let engine = try await PostgresStorageEngine(connecting: server.url(), collection: "load", options: options)
        let load = Load(on: [engine], writersPerEngine: 4)
        try await load.waitForRounds(10)
        try await server.restart(.fast)
        try await load.waitForRounds(10)
        try await server.restart(.immediate)
        try await load.waitForRounds(10)
        try await server.kill()
        try await server.start()
        try await load.waitForRounds(10)
        try await server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'emporium'")
        try await load.waitForRounds(10)
        try await load.end()
        let found = try await load.found(in: engine, upTo: load.rounds)
        #expect(found.allSatisfy { $0.allSatisfy { $0 } })
    }

    @Test("serves many concurrent tasks over a small pool")
    func storm() async throws {
        let url = try await PostgresServer.shared().makeDatabase().url
        let options = PostgresDatabase.Options(maximumConnections: 2, timeout: 180)
        let engine = try await PostgresStorageEngine(connecting: url, collection: "storm", options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<200 {
                group.addTask {
                    let key = CacheKey("\(task)")
                    try await engine.write(Data([UInt8(task)]), key: key)
                    #expect(try await engine.fetch(key: key) == Data([UInt8(task)]))
                    if task.isMultiple(of: 20) { #expect(try await engine.fetchAll().contains { $0.key == key }) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await engine.fetchCount() == 200)
    }

    @Test("that has no connection left is reported after the time limit")
    func noConnectionLeft() async throws {
        // Six connections for programs, the others for the superuser.
        let server = try await PostgresServer.launch(
            settings: ["max_connections": "8", "superuser_reserved_connections": "2", "max_wal_senders": "0"])
        try await server.sql("CREATE ROLE app LOGIN PASSWORD 'app'; GRANT ALL ON SCHEMA public TO app")
        let url = "postgres://app:app@127.0.0.1:\(server.port)/\(PostgresServer.user)?application_name=app"
        let patient = try await PostgresStorageEngine(connecting: url, collection: "storm")
        await patient.database.close()
        let options = PostgresDatabase.Options(maximumConnections: 4, timeout: 5)
        var engines: [PostgresStorageEngine] = []
        for _ in 0..<4 {
            engines.append(
                try await hurrying {
                    try await PostgresStorageEngine(connecting: url, collection: "storm", options: options)
                })
        }
        // Together, the engines want sixteen connections.
        let acknowledged = try await withThrowingTaskGroup(of: CacheKey?.self) { [engines] group in
            for task in 0..<200 {
                group.addTask {
                    let key = CacheKey("\(task)")
                    do {
                        try await engines[task % 4].write(Data([UInt8(task)]), key: key)
                        return key
                    } catch let error as StorageError where [.unreachable, .timedOut].contains(error.code) {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(!acknowledged.isEmpty)
        for engine in engines { await engine.database.close() }

        try await waitUntil("the server had closed all connections") {
            try await server.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'") == "0"
        }
        // A query of the test can take the last connection for a moment, so holders retry.
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let holders = (0..<6).map { _ in
            Task {
                while !isOver.withLock({ $0 }) { _ = try? await server.sql("SELECT pg_sleep(600)", connecting: url) }
            }
        }
        try await waitUntil("there was no connection left") {
            try await server.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND usename = 'app'")
                == "6"
        }
        let failure = await #expect(throws: StorageError.self) {
            try await PostgresStorageEngine(
                connecting: url, collection: "storm", options: .init(connectTimeout: 10, timeout: 10))
        }
        #expect(failure?.code == .unreachable)
        #expect(failure?.message.contains("no connection left") == true)

        async let opening = PostgresStorageEngine(
            connecting: url, collection: "storm",
            options: .init(maximumConnections: 4, connectTimeout: 180, timeout: 180))
        isOver.withLock { $0 = true }
        try await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'")
        for holder in holders { _ = await holder.result }
        let engine = try await opening
        #expect(try await engine.fetchKeys(among: acknowledged) == acknowledged)
    }

    @Test("that is silent is waited for up to the time limit, and used again after it resumes")
    func paused() async throws {
        let server = try await PostgresServer.launch()
        let key = CacheKey("a")
        let patient = try await PostgresStorageEngine(connecting: server.url(), collection: "items")
        try await patient.write(Data([1]), key: key)
        await patient.database.close()
        let hasty = PostgresDatabase.Options(maximumConnections: 3, connectTimeout: 1, timeout: 1)
        let engine = try await hurrying {
            let engine = try await PostgresStorageEngine(connecting: server.url(), collection: "items", options: hasty)
            #expect(try await engine.fetch(key: key) == Data([1]))
            return engine
        }

        try await server.pause()
        let operations: [@Sendable () async throws -> Void] = [
            { _ = try await engine.fetch(key: key) }, { _ = try await engine.fetchAll() },
            { try await engine.write(Data([2]), key: key) }, { try await engine.removeAllData() },
            { _ = try await engine.fetchCount() },
            { _ = try await PostgresStorageEngine(connecting: server.url(), collection: "items", options: hasty) },
        ]
        // Concurrently, with more operations than connections.
        let codes = await withTaskGroup(of: StorageError.Code?.self) { group in
            for operation in operations + operations + operations {
                group.addTask {
                    do {
                        try await operation()
                        return nil
                    } catch {
                        return (error as? StorageError)?.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { [.timedOut, .unreachable].contains($0) }, "\(codes)")

        try await server.resume()
        // Statements in progress may complete now, and delay others until then.
        let answer = try await hurrying {
            try await engine.write(Data([3]), key: key)
            return try await engine.fetch(key: key)
        }
        #expect(answer == Data([3]))
        #expect(try await hurrying { try await engine.fetchKeys() } == [key])
    }

    /// Repeats an operation until it succeeds within the short time limit of the test.
    private func hurrying<Result>(_ body: () async throws -> Result) async throws -> Result {
        var result: Result?
        try await waitUntil("the operation succeeded in time") {
            do {
                result = try await body()
                return true
            } catch let error as StorageError where [.timedOut, .unreachable].contains(error.code) {
                return false
            }
        }
        return try #require(result)
    }

    @Test("with all connections of the pool in use is waited for up to the time limit, and short reads continue")
    func fullPool() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let hasty = PostgresDatabase.Options(maximumConnections: 2, timeout: 2)
        let key = CacheKey("a")
        let patient = try await PostgresStorageEngine(connecting: database.url, collection: "items")
        try await patient.write(Data([1]), key: key)
        await patient.database.close()
        let engine = try await hurrying {
            try await PostgresStorageEngine(connecting: database.url, collection: "items", options: hasty)
        }

        // A long transaction locks the table.
        let holder = Task {
            try await database.sql(
                "BEGIN; LOCK TABLE emporium_items IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(600)")
        }
        try await waitUntil("the table was locked") {
            try await database.sql(
                "SELECT count(*) FROM pg_locks WHERE mode = 'ShareRowExclusiveLock' AND granted AND database = "
                    + "(SELECT oid FROM pg_database WHERE datname = current_database())") != "0"
        }
        let codes = await withTaskGroup(of: StorageError.Code?.self) { group in
            for number in 0..<10 {
                group.addTask {
                    do {
                        try await engine.write(Data([2]), key: CacheKey("\(number)"))
                        return nil
                    } catch {
                        return (error as? StorageError)?.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == .timedOut }, "\(codes)")
        #expect(try await hurrying { try await engine.fetch(key: key) } == Data([1]))

        try await database.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' "
                + "AND pid <> pg_backend_pid() AND datname = current_database()")
        _ = await holder.result
        try await hurrying { try await engine.write(Data([3]), key: key) }
        #expect(try await hurrying { try await engine.fetch(key: key) } == Data([3]))
    }
}
#endif
