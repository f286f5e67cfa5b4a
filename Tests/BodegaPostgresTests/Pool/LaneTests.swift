#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct LaneTests {

    private static let echo = Statement("echo", "SELECT $1::bigint")
    /// Fails only when its transaction is about to be committed.
    private static let late = Statement("late", "INSERT INTO late VALUES (1), (1) RETURNING 1")

    private func echo(_ number: Int64) -> Command { Command(Self.echo, number) }

    private func pool(limit: Int = 1) async throws -> SessionPool {
        let schema = try await Schemas.shared.schema()
        try await schema.sql("CREATE TABLE late (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        return SessionPool(target: try ConnectionTarget(schema.url), limit: limit, connectTimeout: 120)
    }

    @Test func `A failed commit does not shift the results of other reads`() async throws {
        let lane = ReadLane(pool: try await pool())
        _ = try await lane.run(ReadLane.Read(echo(0), until: .after(240)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    if number % 50 == 0 {
                        // The read has its result before the commit fails.
                        _ = try await lane.run(ReadLane.Read(Command(Self.late), until: .after(240)))
                    } else {
                        let answer = try await lane.run(ReadLane.Read(echo(Int64(number)), until: .after(240)))
                        #expect(try answer.number(0, 0) as Int64 == Int64(number))
                    }
                }
            }
            try await group.waitForAll()
        }
        lane.close()
    }

    @Test func `A session reports a failed commit and remains usable`() async throws {
        let session = try await pool().makeSession(until: .after(120))
        for number in 0..<3 {
            let failure = await #expect(throws: PostgresFailure.self) {
                _ = try await session.run(Command(Self.late), patience: 120)
            }
            #expect(failure?.code == "23505")
            let answer = try await session.run(echo(Int64(number)), patience: 120)
            #expect(try answer.number(0, 0) as Int64 == Int64(number))
        }
    }

    /// A read that the server cancelled at its own time limit was not disturbed by another read.
    @Test func `A statement that the server cancels is not repeated`() async throws {
        let schema = try await Schemas.shared.schema()
        try await schema.sql("CREATE SEQUENCE attempts")
        let target = try ConnectionTarget(schema.url + "%20-cstatement_timeout%3D100")
        let lane = ReadLane(pool: SessionPool(target: target, limit: 1, connectTimeout: 120))
        let statement = Statement("slow", "SELECT nextval('attempts'), pg_sleep(600)")
        let failure = await #expect(throws: PostgresFailure.self) {
            _ = try await lane.run(ReadLane.Read(Command(statement), until: .after(240)))
        }
        #expect(failure?.code == "57014")
        #expect(try await schema.sql("SELECT last_value FROM attempts") == "1")
        lane.close()
    }

    @Test func `A statement that the server has deallocated is prepared again`() async throws {
        let lane = ReadLane(pool: try await pool())
        for number in 0..<3 {
            let answer = try await lane.run(ReadLane.Read(echo(Int64(number)), until: .after(240)))
            #expect(try answer.number(0, 0) as Int64 == Int64(number))
            _ = try await lane.run(ReadLane.Read(Command(Statement("DEALLOCATE ALL")), until: .after(240)))
        }
        lane.close()
    }

    @Test func `A read with an earlier deadline than the reads before it ends at its deadline`() async throws {
        let schema = try await Schemas.shared.schema()
        let lane = ReadLane(pool: SessionPool(target: try ConnectionTarget(schema.url), limit: 1, connectTimeout: 120))
        _ = try await lane.run(ReadLane.Read(echo(0), until: .after(240)))
        let awake = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(900)' AND state = 'active'"
        #expect(try await schema.sql(awake) == "0")
        let sleep = Task {
            try await lane.run(ReadLane.Read(Command(Statement("SELECT pg_sleep(900)")), until: .after(900)))
        }
        try await waitUntil("the server was busy") { try await schema.sql(awake) == "1" }
        let failure = await #expect(throws: PostgresFailure.self) {
            try await lane.run(ReadLane.Read(echo(1), until: .after(1)))
        }
        #expect(failure?.kind == .timedOut)
        _ = await sleep.result
        lane.close()
    }

    /// The rows arrive over more than the time limit, with pauses that are a tenth of it.
    @Test func `A read goes on as long as its answer arrives`() async throws {
        let lane = ReadLane(pool: try await pool())
        _ = try await lane.run(ReadLane.Read(echo(0), until: .after(240)))
        let slow = Statement("SELECT repeat('x', 100000), pg_sleep(0.5) FROM generate_series(1, 14)")
        async let behind = lane.run(ReadLane.Read(Command(slow), until: .after(5)))
        let answer = try await lane.run(ReadLane.Read(Command(slow), until: .after(5)))
        #expect(try (0..<14).allSatisfy { try answer.text($0, 0).utf8.count == 100_000 })
        #expect(try await behind.count == 14)
        lane.close()
    }

    /// Small items are read on a shared connection, which a large one would hold up.
    @Test func `Items of all sizes are read, alone and together`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let sizes = [0, 1, ItemStatements.sharedBytes, ItemStatements.sharedBytes + 1, 3 << 20]
        let items = sizes.map { (key: CacheKey("\($0)"), data: Data((0..<$0).map { UInt8(truncatingIfNeeded: $0) })) }
        try await engine.write(items)
        for item in items { #expect(try await engine.fetch(key: item.key) == item.data) }
        for part in [items[...], items.prefix(3)] {
            let keys = part.map(\.key) + [CacheKey("none")]
            let found = try await engine.fetch(FetchRequest(keys, [.data, .dates, .place])).value
            #expect(found.map(\.key) == part.map(\.key))
            #expect(found.map(\.data) == part.map(\.data))
            #expect(found.allSatisfy { $0.dates != nil && $0.position != nil })
        }
        #expect(try await engine.fetch(key: CacheKey("none")) == nil)
    }

    @Test func `A lane gets the place of an idle session if the server has no other`() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let user = "limited_\(database.name)"
        try await database.sql("CREATE ROLE \(user) LOGIN PASSWORD 'pa55' CONNECTION LIMIT 2")
        let place = database.url.split(separator: "@").dropFirst().joined(separator: "@")
        let target = try ConnectionTarget("postgresql://\(user):pa55@\(place)")
        let pool = SessionPool(target: target, limit: 2, connectTimeout: 120)
        try await pool.withSession { _ in try await pool.withSession { _ in } }
        let lane = ReadLane(pool: pool)
        let failure = await #expect(throws: PostgresFailure.self) {
            _ = try await lane.run(ReadLane.Read(echo(1), until: .after(120)))
        }
        #expect(failure?.isFull == true)
        try await waitUntil("the lane has a place") {
            do {
                return try await lane.run(ReadLane.Read(echo(2), until: .after(120))).number(0, 0) as Int64 == 2
            } catch let failure as PostgresFailure where failure.isFull {
                return false
            }
        }
        // And a session gets that of an idle lane.
        try await pool.withSession { _ in
            try await waitUntil("a session has a place") {
                do {
                    try await pool.withSession { _ in }
                    return true
                } catch let failure as PostgresFailure where failure.isFull {
                    return false
                }
            }
        }
        lane.close()
        pool.close()
    }

    @Test func `Each of many reads ends when the server is killed`() async throws {
        let server = try await PostgresServer.launch()
        let patient = try await PostgresStorageEngine(connecting: server.url(), collection: "notes")
        try await patient.write(Data("1".utf8), key: CacheKey("a"))
        await patient.database.close()
        let engine = try await PostgresStorageEngine(
            connecting: server.url(), collection: "notes", options: .init(connectTimeout: 5, timeout: 5))
        for round in 0..<3 {
            try await waitUntil("the server answered") { (try? await engine.fetch(key: CacheKey("a"))) != nil }
            let started = Locked(0)
            let isOver = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        while true {
                            let data = try? await engine.fetch(key: CacheKey("a"))
                            if data != nil { started.withLock { $0 += 1 } }
                            // A read may fail earlier on a busy machine.
                            if data == nil, Task.isCancelled || isOver.withLock({ $0 }) { return }
                        }
                    }
                }
                try await waitUntil("reads were under way") { started.withLock { $0 > 500 } }
                isOver.withLock { $0 = true }
                try await server.kill()
                try await group.waitForAll()
            }
            if round < 2 { try await server.start() }
        }
    }

    @Test func `Waiting for a session without time left fails with an exhausted pool`() async throws {
        let pool = try await pool()
        try await pool.withSession(until: .after(120)) { _ in
            for _ in 0..<200 {
                let failure = await #expect(throws: PostgresFailure.self) {
                    try await pool.withSession(until: .after(0)) { _ in }
                }
                #expect(failure?.kind == .poolExhausted)
            }
        }
    }
}
#endif
