#if Postgres
import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Tests of engines and stores while connections freeze and break and server processes stop, at seeded moments.
@Suite("Under stalls")
struct StallTests {

    /// A server, proxies to it, and their faults.
    private struct Place {
        let server: PostgresServer
        let database: PostgresServer.Database
        let proxies: [FaultyProxy]

        init() async throws {
            let server = try await PostgresServer.launch()
            self.server = server
            database = try await server.makeDatabase()
            proxies = try (0..<2).map { _ in try FaultyProxy(to: server.port) }
        }

        func engine(_ number: Int, of collection: String) async throws -> PostgresStorageEngine {
            // Short time limits, so that many operations end with an unknown outcome.
            let options = PostgresDatabase.Options(maximumConnections: 4, connectTimeout: 1, timeout: 0.5)
            let url = number < proxies.count ? server.url(through: proxies[number], database.url) : database.url
            while true {
                do {
                    return try await PostgresStorageEngine(connecting: url, collection: collection, options: options)
                } catch let error as StorageError where [.timedOut, .unreachable].contains(error.code) {
                    print("Opening again: \(error)")
                }
            }
        }

        var faults: [Fault] {
            let (server, database) = (server, database.name)
            return proxies.flatMap(Fault.all(of:)) + [
                .stopped("some backends") { try await server.backends(of: database).filter { $0.isMultiple(of: 2) } },
                .stopped("all backends") { try await server.backends(of: database) },
                Fault("server stopped") {
                    try await server.pause()
                } end: {
                    try await server.resume()
                },
                Fault("backends terminated") {
                    for process in try await server.backends(of: database) { ProcessSignal(SIGTERM).send(to: process) }
                },
            ]
        }

        func disturb(_ work: RegisterHistory, seed: UInt64) async throws {
            try await FaultPlan(faults, seed: seed, rounds: 24).run { work.count }
        }

        /// Waits until the server has received and executed all statements of the closed engines.
        func settle() async throws {
            for proxy in proxies { proxy.thaw() }
            try await waitUntil("all connections of the closed engines had ended") {
                try await server.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)'") == "0"
            }
        }

        func patientEngine(of collection: String) async throws -> PostgresStorageEngine {
            try await PostgresStorageEngine(connecting: database.url, collection: collection, options: .patient())
        }
    }

    private static let keys = (0..<6).map { "key \($0)" }

    @Test("a write is applied when it returns, and is not applied after it threw and the engine wrote again")
    func engines() async throws {
        let seed = Seed.current
        print("engines under stalls: EMPORIUM_SEED=\(seed)")
        let place = try await Place()
        let history = RegisterHistory()
        let isOver = Locked(false)
        var engines: [PostgresStorageEngine] = []
        for number in 0..<3 { engines.append(try await place.engine(number, of: "stalls")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<9 {
                let place = writer % engines.count
                let engine = engines[place]
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(writer))
                    var number = 0
                    while !isOver.withLock({ $0 }) {
                        number += 1
                        let failure = await Self.operation(
                            "\(writer)/\(number)", on: engine, by: place, history, &random)
                        if let failure { Self.check(failure) }
                    }
                }
            }
            defer { isOver.withLock { $0 = true } }
            try await place.disturb(history, seed: seed)
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        for engine in engines { engine.database.disconnect() }
        try await place.settle()
        let engine = try await place.patientEngine(of: "stalls")
        for key in Self.keys {
            let failure = await history.read(key) { try await engine.fetch(key: CacheKey(key))?.text }
            #expect(failure == nil)
        }
        let violations = history.violations()
        print("\(history.count) operations, \(history.thrownCount) threw, \(violations.count) violations")
        #expect(history.thrownCount > 0)
        #expect(violations == [], "EMPORIUM_SEED=\(seed)")
    }

    /// Performs a random operation, in some cases in a task that is cancelled.
    private static func operation(
        _ value: String,
        on engine: PostgresStorageEngine,
        by place: Int,
        _ history: RegisterHistory,
        _ random: inout SeededGenerator
    ) async -> (any Error)? {
        let shuffled = keys.shuffled(using: &random)
        let kind = Int.random(in: 0..<100, using: &random)
        let isCancelled = Int.random(in: 0..<10, using: &random) == 0
        let turns = Int.random(in: 0..<50, using: &random)
        let task = Task { () -> (any Error)? in
            switch kind {
            case 0..<50:
                return await history.write([shuffled[0]: value], by: place, mayComeLate: mayComeLate) {
                    try await engine.write(Data(value.utf8), key: CacheKey(shuffled[0]))
                }
            case 50..<65:
                let written = Dictionary(uniqueKeysWithValues: shuffled.prefix(3).map { ($0, Optional(value)) })
                return await history.write(written, by: place, mayComeLate: mayComeLate) {
                    try await engine.write(shuffled.prefix(3).map { (CacheKey($0), Data(value.utf8)) })
                }
            case 65..<75:
                return await history.write([shuffled[0]: nil], by: place, mayComeLate: mayComeLate) {
                    try await engine.remove(key: CacheKey(shuffled[0]))
                }
            default:
                return await history.read(shuffled[0]) { try await engine.fetch(key: CacheKey(shuffled[0]))?.text }
            }
        }
        if isCancelled {
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
        }
        return await task.value
    }

    /// Whether an error reports an unknown outcome, which the engine settles before the next write.
    private static func mayComeLate(_ failure: any Error) -> Bool {
        (failure as? StorageError)?.message.contains("is not known yet") == true
    }

    /// Checks that an operation failed with an error for stalls.
    private static func check(_ failure: any Error) {
        let code = (failure as? StorageError)?.code
        let isExpected = failure is CancellationError || code == .timedOut || code == .unreachable || code == .locked
        #expect(isExpected, "\(failure)")
    }

    @Test("stores agree with their engine within seconds, after any outcome of their writes")
    @MainActor
    func stores() async throws {
        let seed = Seed.current
        print("stores under stalls: EMPORIUM_SEED=\(seed)")
        let place = try await Place()
        let history = RegisterHistory()
        var stores: [Store<Visit>] = []
        for number in 0..<3 {
            stores.append(try await Store<Visit>(storage: try await place.engine(number, of: "visits")))
        }
        let isOver = Locked(false)
        let writers = (0..<6).map { writer in
            let place = writer % stores.count
            let store = stores[place]
            return Task {
                var random = SeededGenerator(seed: seed &+ UInt64(writer))
                var number = 0
                while !isOver.withLock({ $0 }) {
                    number += 1
                    let id = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
                    let failure: (any Error)?
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        failure = await history.write([id: nil], by: place, mayComeLate: Self.mayComeLate) {
                            try await store.remove(id: id)
                        }
                    } else {
                        let visit = Visit(id: id, version: "\(writer)/\(number)")
                        failure = await history.write([id: visit.version], by: place, mayComeLate: Self.mayComeLate) {
                            try await store.insert(visit)
                        }
                    }
                    if let failure { Self.check(failure) }
                }
            }
        }
        defer { isOver.withLock { $0 = true } }
        try await place.disturb(history, seed: seed)
        isOver.withLock { $0 = true }
        for writer in writers { await writer.value }
        for proxy in place.proxies { proxy.thaw() }

        let engine = try await place.patientEngine(of: "visits")
        let objects = ObjectStorage<Visit>(storage: engine)
        var stored: [Visit] = []
        let began = ContinuousClock.now
        do {
            try await waitUntil("all stores agreed with the database", within: .seconds(120)) {
                stored = try await objects.fetchAllObjects().objects
                // The server orders items by numbers of transactions, which can commit in another order.
                let sorted = stored.sorted { $0.id < $1.id }
                return stores.allSatisfy { store in store.items.sorted { $0.id < $1.id } == sorted }
            }
        } catch {
            let shown = stores.map { "a store shows \($0.items.map(\.version))" }.joined(separator: "\n")
            Issue.record("EMPORIUM_SEED=\(seed): \(shown)\nstored: \(stored.map(\.version))")
        }
        for key in Self.keys { await history.read(key) { stored.first { $0.id == key }?.version } }
        let violations = history.violations()
        print("\(history.count) writes, \(history.thrownCount) threw, \(violations.count) violations")
        print("agreed after \(ContinuousClock.now - began)")
        #expect(violations == [], "EMPORIUM_SEED=\(seed)")
    }
}

extension Data {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
#endif
