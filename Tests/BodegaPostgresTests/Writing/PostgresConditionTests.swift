#if Postgres
import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Conditional batches beside other writers and under faults.
@Suite
struct PostgresConditionTests {

    private let key = CacheKey("x")

    private func engines(_ count: Int) async throws -> [PostgresStorageEngine] {
        let schema = try await Schemas.shared.schema()
        var engines: [PostgresStorageEngine] = []
        for _ in 0..<count {
            engines.append(
                try await PostgresStorageEngine(connecting: schema.url, collection: "numbers", options: .patient()))
        }
        return engines
    }

    @Test func `Two processes that increment a value lose no increment`() async throws {
        let schema = try await Schemas.shared.schema()
        let processes = try (0..<2).map { _ in
            try Child(["increment-postgres-value", schema.url, "number", "\(TestSizes.increments)"])
        }
        for process in processes { #expect(await process.lines() == ["done"]) }
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "values", options: .patient())
        let value = AsyncStoredValue(key: "number", default: 0, storage: engine)
        try await value.valueHasLoaded()
        #expect(await value.wrappedValue == 2 * TestSizes.increments)
    }

    /// An absent item can't be locked, so two writers may find it absent.
    @Test func `Of many tasks that add the same item, one succeeds in each round`() async throws {
        let engines = try await engines(3)
        for round in 0..<20 {
            try await engines[0].removeAllData()
            let key = key
            let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, engine) in engines.enumerated() {
                    for task in 0..<4 {
                        group.addTask {
                            let data = Data("\(round) \(number) \(task)".utf8)
                            return try await engine.apply(
                                [.write(key: key, data: data)], if: [StorageCondition(key: key, data: nil)])
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            #expect(try await engines[0].fetchCount() == 1)
        }
    }

    /// A conditional batch writes `copy` if `end` is absent, while another writer adds `end`. So `copy` is never
    /// written after `end`.
    @Test func `An item whose absence is a condition is not added before the batch is applied`() async throws {
        let engines = try await engines(2)
        let (copy, end) = (CacheKey("copy"), CacheKey("end"))
        for round in 0..<20 {
            try await engines[0].removeAllData()
            try await engines[0].write(Data("\(round)".utf8), key: key)
            async let isApplied = engines[0].apply(
                [.write(key: copy, data: Data("copy".utf8))],
                if: [
                    StorageCondition(key: end, data: nil), StorageCondition(key: key, data: Data("\(round)".utf8)),
                ])
            try await engines[1].write(Data("end".utf8), key: end)
            let keys = try await engines[1].fetchKeys()
            if try await isApplied {
                // Its place shows that it was written first.
                #expect(keys.contains(copy))
                #expect(try await engines[1].fetchKeys() == [key, copy, end])
            } else {
                #expect(try await engines[1].fetchKeys() == [key, end])
            }
        }
    }

    @Test func `A conditional write whose result is lost is applied once, and reported as applied`() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let proxy = try FaultyProxy(to: server.port)
        let engine = try await PostgresStorageEngine(
            connecting: server.url(through: proxy, database.url), collection: "x", options: .patient())
        let other = try await PostgresStorageEngine(connecting: database.url, collection: "x", options: .patient())
        try await engine.write(Data("1".utf8), key: key)
        await engine.database.announcer.finish()
        let condition = StorageCondition(key: key, data: Data("1".utf8))

        proxy.loseNextCommit {}
        #expect(try await engine.apply([.write(key: key, data: Data("2".utf8))], if: [condition]))
        #expect(try await other.fetch(key: key) == Data("2".utf8))

        // Another writer restores the state that the condition demands, before the write is repeated.
        await engine.database.announcer.finish()
        try await other.write(Data("1".utf8), key: key)
        proxy.loseNextCommit { [key] in try await other.write(Data("1".utf8), key: key) }
        #expect(try await engine.apply([.write(key: key, data: Data("3".utf8))], if: [condition]))
        #expect(try await other.fetch(key: key) == Data("1".utf8))
    }
}
#endif
