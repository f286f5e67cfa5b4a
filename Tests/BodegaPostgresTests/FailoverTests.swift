#if Postgres
import Bodega
import BodegaPostgres
import Boutique
import Foundation
import TestSupport
import Testing

/// Tests that lose a primary under load and promote its standby.
@Suite("A failover")
struct FailoverTests {

    /// Two engines with separate connections, like those of two programs.
    private func engines(on servers: [PostgresServer]) async throws -> [PostgresStorageEngine] {
        let url = PostgresServer.url(of: servers)
        // On a busy machine, promoting a standby may take this long.
        let options = PostgresDatabase.Options(maximumConnections: 4, timeout: 180)
        return [
            try await PostgresStorageEngine(connecting: url, collection: "load", options: options),
            try await PostgresStorageEngine(connecting: url, collection: "load", options: options),
        ]
    }

    @Test("loses no acknowledged write with synchronous replication, and clients reconnect by themselves")
    func synchronous() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: true)
        let engines = try await engines(on: [primary, standby])
        let load = Load(on: engines, writersPerEngine: 3)
        try await load.waitForRounds(20)
        try await primary.kill()
        try await standby.promote()
        try await load.waitForRounds(20)
        try await load.end()
        for engine in engines {
            let found = try await load.found(in: engine, upTo: load.rounds)
            #expect(found.allSatisfy { $0.allSatisfy { $0 } })
        }
        let (one, other) = (try await engines[0].fetchAll(), try await engines[1].fetchAll())
        #expect(one.map(\.key) == other.map(\.key))
        #expect(one.map(\.data) == other.map(\.data))
        let count = load.rounds.indices.reduce(0) { count, writer in
            count + (0..<load.rounds[writer]).reduce(0) { $0 + Load.keys(writer, $1).count }
        }
        #expect(one.count == count)
        #expect(try await standby.sql("SELECT count(*) FROM emporium_items") == "\(count)")
    }

    @Test("without synchronous replication loses at most the last rounds of each writer")
    func asynchronous() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: false)
        let engines = try await engines(on: [primary, standby])
        // Large enough to exceed the data in transit between the servers.
        let load = Load(on: engines, writersPerEngine: 2, size: 100_000)
        try await load.waitForRounds(4)

        let safe = load.rounds
        try await standby.waitForReplay(of: primary)
        try await standby.pause()
        try await load.waitForRounds(20)
        try await primary.kill()
        let acknowledged = load.rounds
        try await standby.resume()
        try await standby.promote()
        try await load.waitForRounds(4)
        try await load.end()

        let found = try await load.found(in: engines[0], upTo: load.rounds)
        var lost = 0
        for (writer, rounds) in found.enumerated() {
            let kept = rounds.prefix { $0 }.count
            #expect(kept >= safe[writer], "The standby has all that it had replayed.")
            let missing = rounds.indices.filter { !rounds[$0] }
            lost += missing.count
            #expect(missing == Array(kept..<(kept + missing.count)), "Only the last rounds are lost.")
            // A round in progress was acknowledged just after the count, or repeated on the standby.
            #expect(
                missing.allSatisfy { $0 <= acknowledged[writer] },
                "The rounds acknowledged since the failover are stored.")
        }
        #expect(lost > 0, "The standby was stopped, so the test must lose rounds.")
        let (one, other) = (try await engines[0].fetchAll(), try await engines[1].fetchAll())
        #expect(one.map(\.key) == other.map(\.key))
        #expect(one.map(\.data) == other.map(\.data))
    }

    @Test(
        "leaves two stores with the items of the server, and with all acknowledged ones if replication is synchronous",
        arguments: [true, false])
    @MainActor
    func stores(isSynchronous: Bool) async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: isSynchronous)
        let engines = try await engines(on: [primary, standby])
        var stores: [Store<Visit>] = []
        for engine in engines { stores.append(try await Store(storage: engine)) }
        let rounds = Rounds()
        defer { rounds.isEnough = true }
        // Large enough to exceed the data in transit between the servers.
        let text = Load.value(CacheKey("text"), isSynchronous ? 100 : 75_000).base64EncodedString()

        let writers = stores.enumerated().map { number, store in
            Task { @MainActor in
                while !rounds.isEnough {
                    let round = rounds.done[number]
                    let own = Visit(id: "\(number) \(round)", text: text)
                    try await store.insert(own)
                    try await store.insert(Visit(id: "shared \(round % 5)", text: own.id))
                    if round.isMultiple(of: 2) { try await store.remove(own) }
                    rounds.done[number] += 1
                }
            }
        }
        try await rounds.wait(10)
        let safe = rounds.done
        if !isSynchronous {
            try await standby.waitForReplay(of: primary)
            try await standby.pause()
        }
        try await rounds.wait(20)
        try await primary.kill()
        if !isSynchronous { try await standby.resume() }
        try await standby.promote()
        try await rounds.wait(10)
        rounds.isEnough = true
        for writer in writers { try await writer.value }

        let stored = try await ObjectStorage<Visit>(storage: engines[0]).fetchAllObjects().objects.sorted()
        for store in stores {
            try await waitUntil("a store has the stored items") { store.items.sorted() == stored }
        }
        let ids = Set(stored.map(\.id))
        var lost = 0
        for number in stores.indices {
            let missing = (0..<rounds.done[number]).filter { ids.contains("\(number) \($0)") == $0.isMultiple(of: 2) }
            lost += missing.count
            #expect(missing.allSatisfy { $0 >= safe[number] }, "The standby has all that it had replayed.")
        }
        #expect(isSynchronous == (lost == 0))
    }

    /// An item of the stores.
    private struct Visit: StorableItem, Identifiable, Equatable, Comparable {
        var id: String
        var text: String

        static func < (left: Self, right: Self) -> Bool { left.id < right.id }
    }

    /// The number of completed rounds of each writer, and whether to stop.
    @MainActor
    private final class Rounds {
        var done = [0, 0]
        var isEnough = false

        /// Waits until each writer has completed some more rounds.
        func wait(_ count: Int) async throws {
            let before = done
            try await waitUntil("each writer did \(count) rounds", within: .seconds(400)) {
                zip(done, before).allSatisfy { $0 >= $1 + count }
            }
        }
    }

    @Test("is noticed by an idle follower, also if the primary is silent instead of gone")
    func follower() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: false)
        let engine = try await PostgresStorageEngine(
            connecting: PostgresServer.url(of: [primary, standby]), collection: "load",
            options: .init(connectTimeout: 3, timeout: 180))
        let following = Task {
            for await _ in engine.changeSignals() {}
        }
        defer { following.cancel() }
        // The first statement of a listener.
        let listeners = """
            SELECT count(*) FROM pg_stat_activity
            WHERE query LIKE '%pg_current_snapshot()%' AND pid <> pg_backend_pid()
            """
        try await waitUntil("it listened") { try await primary.sql(listeners) == "1" }
        try await primary.pause()
        try await standby.promote()
        try await waitUntil("it listened to the other server") { try await standby.sql(listeners) == "1" }
        try await primary.resume()
        engine.database.disconnect()
    }

    @Test("is not assumed while the primary only restarts")
    func restart() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: false)
        let engines = try await engines(on: [standby, primary])
        let load = Load(on: engines, writersPerEngine: 2)
        try await load.waitForRounds(5)
        for shutdown in [PostgresServer.Shutdown.fast, .immediate] {
            try await primary.restart(shutdown)
            try await load.waitForRounds(5)
        }
        try await load.end()
        let found = try await load.found(in: engines[0], upTo: load.rounds)
        #expect(found.allSatisfy { $0.allSatisfy { $0 } })
        #expect(try await standby.sql("SELECT pg_is_in_recovery()") == "t")
    }
}
#endif
