#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Transactions over several collections under faults: all or nothing, and exactly once.
@Suite("A transaction over several collections")
struct TransactionFaultTests {

    private static let key = Collections.key

    /// Cuts the connection at the n-th answer of the server, from the beginning of the transaction to its commit.
    @Test("is applied once if its connection is cut", arguments: ["conditions", "none", "removing all"])
    func cuts(_ kind: String) async throws {
        let schema = try await Schemas.shared.schema()
        let server = try await PostgresServer.shared()
        let proxy = try FaultyProxy(to: server.port)
        let place = Schemas.Schema(name: schema.name, database: schema.database)
        let observer = try await Collections(place)
        let database = try await PostgresDatabase(
            connecting: server.url(through: proxy, schema.url), options: .patient(maximumConnections: 2))
        let engines = [try await database.collection(named: "left"), try await database.collection(named: "right")]
        var random = SeededGenerator(seed: Seed.current)
        print("EMPORIUM_SEED=\(Seed.current)")
        try await Collections.write(0, engines)
        for round in 1...100 {
            await database.announcer.finish()
            let rest = Locked(Int.random(in: 0..<4, using: &random))
            proxy.loseAnswer(
                where: { _ in
                    rest.withLock { rest in
                        rest -= 1
                        return rest < 0
                    }
                }, after: {})
            // The removal makes more statements. Without a condition, nothing else shows that it was applied.
            let batches = engines.map { engine in
                let operations: [StorageOperation] = [
                    kind == "removing all" ? .removeAll : .remove(key: CacheKey("none")),
                    .write(key: Self.key, data: Collections.data(round)),
                ]
                let old = StorageCondition(key: Self.key, data: Collections.data(round - 1))
                let batch = StorageBatch(operations, if: kind == "conditions" ? [old] : nil)
                return (engine: engine as any StorageBackend, batch: batch)
            }
            #expect(try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied), "round \(round)")
            #expect(try await observer.stored() == ["\(round)", "\(round)"])
        }
        for engine in observer.engines {
            // The fence and the announcements log no change.
            let count = "SELECT count(*) FROM emporium_changes WHERE collection = \(engine.number) AND written <> '{}'"
            #expect(try await schema.sql(count) == "101")
        }
    }

    /// Another writer writes between the commit and its repetition.
    @Test("is not applied again over a newer write", arguments: [true, false])
    func lostCommit(isConditional: Bool) async throws {
        let observer = try await Collections()
        let server = try await PostgresServer.shared()
        let proxy = try FaultyProxy(to: server.port)
        let database = try await PostgresDatabase(
            connecting: server.url(through: proxy, observer.schema.url), options: .patient())
        let engines = [try await database.collection(named: "left"), try await database.collection(named: "right")]
        try await Collections.write(1, engines)
        await database.announcer.finish()
        proxy.loseNextCommit {
            try await waitUntil("it was committed") { try await observer.stored() == ["2", "2"] }
            // The state that the condition demands, in one of them.
            try await observer.right.write(Collections.data(isConditional ? 1 : 3), key: Self.key)
        }
        #expect(try await Collections.write(2, engines, if: isConditional ? 1 : nil))
        #expect(proxy.hasLostAnswer)
        #expect(try await observer.stored() == ["2", isConditional ? "1" : "3"])
    }

    /// Numbers that count up together, each step by one transaction.
    private static func countUp(_ engines: [PostgresStorageEngine], key: CacheKey, from first: Int) async throws -> Int
    {
        let applied = try await Collections.write(first + 1, engines, key: key, if: first)
        #expect(applied)
        return first + 1
    }

    @Test("is applied once if server processes are terminated at random, or the server is killed")
    func terminations() async throws {
        let server = try await PostgresServer.launch()
        let options = PostgresDatabase.Options(maximumConnections: 6, connectTimeout: 60, timeout: 240)
        let database = try await PostgresDatabase(connecting: server.url(), options: options)
        let engines = [try await database.collection(named: "left"), try await database.collection(named: "right")]
        let isOver = Locked(false)
        let counts = Locked([Int](repeating: 0, count: 4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let key = CacheKey("\(writer)")
                    try await Collections.write(0, engines, key: key)
                    while !isOver.withLock({ $0 }) {
                        let count = counts.withLock { $0[writer] }
                        let next = try await Self.countUp(engines, key: key, from: count)
                        counts.withLock { $0[writer] = next }
                    }
                }
            }
            group.addTask {
                defer { isOver.withLock { $0 = true } }
                let end = """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE application_name = 'emporium' AND state <> 'idle'
                    """
                var ended = 0
                for _ in 0..<10_000 where ended < 100 { ended += Int(try await server.sql(end)) ?? 0 }
                print("\(ended) processes terminated after \(counts.withLock { $0 }) transactions")
                for _ in 0..<3 {
                    let before = counts.withLock { $0.reduce(0, +) }
                    try await server.kill()
                    try await server.start()
                    try await waitUntil("there were more transactions", within: .seconds(200)) {
                        counts.withLock { $0.reduce(0, +) } > before + 10
                    }
                }
            }
            try await group.waitForAll()
        }
        for (writer, count) in counts.withLock({ $0 }).enumerated() {
            let stored = "SELECT convert_from(data, 'UTF8') FROM emporium_items WHERE key = '\\x00\("3\(writer)")'"
            #expect(try await server.sql(stored) == "\(count)\n\(count)")
        }
    }

    @Test("of a process that is killed is applied as a whole or not at all")
    func killedProcess() async throws {
        let observer = try await Collections()
        var random = SeededGenerator(seed: Seed.current)
        try await Collections.write(0, observer.engines)
        for _ in 0..<TestSizes.kills {
            let child = try Child("write-postgres-pairs", observer.schema.url)
            var acknowledged = 0
            for _ in 0...Int.random(in: 0..<20, using: &random) {
                acknowledged = Int(try #require(await child.nextLine())) ?? -1
            }
            child.kill()
            while let line = await child.nextLine() { acknowledged = Int(line) ?? acknowledged }
            let stored = try await observer.stored()
            #expect(stored[0] == stored[1])
            // The last one may have been committed without a line.
            let number = try #require(Int(stored[0]))
            #expect((acknowledged...(acknowledged + 1)).contains(number), "\(acknowledged) \(number)")
        }
    }

    @Test("with an unknown outcome suspends writes to each of its collections, and to no others")
    func fence() async throws {
        // No server has this port.
        let target = try ConnectionTarget("postgres://u:p@127.0.0.1:1/a")
        let pool = SessionPool(target: target, limit: 1, connectTimeout: 1)
        let fence = WriteFence(pool: pool, clock: ContinuousClock(), timeout: 1)
        let request = ChangeRequest(collection: 1, origin: UUID())
        let write = WriteFence.UnsettledWrite(request: request, locksFirst: true, collections: [1, 2])
        #expect(await fence.settle(write, until: .after(0.01)) == .unknown)
        for collections: Set<Int32> in [[1], [2], [2, 3]] {
            await #expect(throws: PostgresFailure.self) { try await fence.pass(collections, until: .after(0.01)) }
        }
        try await fence.pass([3], until: .after(0.01))
        pool.close()
    }
}
#endif
