#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct DurabilityTests {

    private static let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    @Test(arguments: [1, 2])
    func `A write does not return before the standby has it, even if the wait is cancelled`(collections: Int)
        async throws
    {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: true)
        // The log is not trimmed, as the commit of a trimming transaction would also wait.
        let engine = try await PostgresStorageEngine(
            connecting: primary.url(), collection: "notes", options: .patient(changeLogLimit: .max / 2))
        // Also of a transaction over several collections.
        let engines = [engine, try await engine.collection(named: "others")].prefix(collections)
        @Sendable func write(_ text: String) async throws {
            let batch = StorageBatch([.write(key: CacheKey("a"), data: Data(text.utf8))])
            _ = try await StorageBatchGroup.apply(engines.map { (engine: $0, batch: batch) })
        }
        try await write("0")
        try await standby.pause()

        // The task is cancelled while the commit waits.
        let cancelled = Task { try await write("1") }
        try await waitUntil("the commit waited") { try await primary.sql(Self.waiting) == "1" }
        cancelled.cancel()
        let failure = await #expect(throws: StorageError.self) { try await cancelled.value }
        #expect(failure?.code == .timedOut)
        // A `CancellationError` would mean that nothing was changed.
        #expect(failure?.message.hasSuffix("The write was applied, but may not be on the standby.") == true)

        // An announcement waits for no standby.
        engine.database.announcer.announce(changesOf: [engine.number])
        await engine.database.announcer.finish()

        // An administrator cancels the wait, and the engine waits again.
        let isDone = Locked(false)
        let written = Task {
            try await write("2")
            isDone.withLock { $0 = true }
        }
        try await waitUntil("the commit waited") { try await primary.sql(Self.waiting) == "1" }
        let stop = "SELECT pg_cancel_backend(pid), pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        let first = try await primary.sql(stop)
        try await waitUntil("another commit waited") {
            let process = try await primary.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            return !process.isEmpty && first != "t|\(process)" || isDone.withLock { $0 }
        }
        #expect(!isDone.withLock { $0 })
        try await standby.resume()
        try await written.value
        for engine in engines { #expect(try await engine.fetch(key: CacheKey("a")) == Data("2".utf8)) }
        let logged = try await primary.sql("SELECT count(*) FROM emporium_changes WHERE written <> '{}'")
        #expect(logged == "\(3 * collections)")
        engine.database.disconnect()
    }

    @Test func `A follower does not skip a transaction with a number that the server assigns again after a crash`()
        async throws
    {
        // Other output of the server can carry the lost transactions to the disk, so several attempts may be needed.
        for _ in 0..<20 {
            guard let keys = try await keysAfterACrash() else { continue }
            #expect(keys == [CacheKey("a"), CacheKey("b")])
            return
        }
        Issue.record("The server assigned no number again, so nothing was tested.")
    }

    /// Returns the keys that a follower has after a write; `nil` if the server did not assign its transaction a number
    /// that it had assigned before.
    private func keysAfterACrash() async throws -> [CacheKey]? {
        // The server delays output for which no commit waits.
        let settings = ["wal_writer_delay": "10000", "autovacuum": "off"]
        let server = try await PostgresServer.launch(settings: settings)
        let engine = try await PostgresStorageEngine(connecting: server.url(), collection: "notes", options: .patient())
        defer { engine.database.disconnect() }
        _ = try await engine.fetchCursor()
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        try await server.sql("CHECKPOINT")
        // They are not on disk when the server crashes, so that it assigns their numbers again.
        try await server.sql(String(repeating: "BEGIN; SELECT pg_current_xact_id(); ROLLBACK;", count: 20))
        let last = try #require(Int(try await server.sql("SELECT pg_snapshot_xmax(pg_current_snapshot())")))
        let cursor = try await engine.fetchCursor()
        try await server.kill()
        try await server.start()
        try await engine.write(Data("2".utf8), key: CacheKey("b"))
        let number = try await server.sql("SELECT max(transaction) FROM emporium_changes")
        guard try #require(Int(number)) < last else { return nil }
        var feed = engine.changes(since: cursor).makeAsyncIterator()
        return switch try #require(try await feed.next()) {
        case .snapshot(let snapshot): snapshot.items.map(\.key)
        case .changes(let delta): [CacheKey("a")] + delta.changes.map(\.key)
        }
    }

    @Test func `A copy of a database has another history`() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let original = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient())
        try await original.write(Data("1".utf8), key: CacheKey("a"))
        let cursor = try await original.fetchCursor()
        await original.database.close()
        try await waitUntil("the connections were closed") {
            try await database.server.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)'") == "0"
        }
        try await database.server.sql("CREATE DATABASE \(database.name)_copy TEMPLATE \(database.name)")
        let copy = try await PostgresStorageEngine(
            connecting: database.server.url(database: "\(database.name)_copy"), collection: "notes",
            options: .patient())
        #expect(try await copy.fetchChanges(since: cursor, excluding: nil) == nil)
        let snapshot = try await copy.fetchSnapshot()
        #expect(snapshot.items.map(\.key) == [CacheKey("a")])
        // The copied log still has the requests, by which a repeated write finds that it was applied.
        #expect(
            try await database.server.sql(
                "SELECT count(*) FROM emporium_changes", database: "\(database.name)_copy") == "1")
        try await copy.write(Data("2".utf8), key: CacheKey("b"))
        let delta = try #require(try await copy.fetchChanges(since: snapshot.cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [CacheKey("b")])
        copy.database.disconnect()
        // The original is unaffected.
        let reopened = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient())
        #expect(try await reopened.fetchChanges(since: cursor, excluding: nil)?.changes.isEmpty == true)
        reopened.database.disconnect()
    }

    @Test func `The log keeps the requests of writes that may be repeated`() async throws {
        let schema = try await Schemas.shared.schema()
        var options = PostgresDatabase.Options.patient(changeLogLimit: 1)
        options.requestAge = 3_600
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
        for number in 0..<20 {
            try await engine.write(Data(), key: CacheKey("\(number)"))
            try await engine.database.trimmer.trim()
        }
        #expect(try await schema.sql("SELECT count(*) FROM emporium_changes") == "20")
        engine.database.disconnect()
    }

    @Test func `The log keeps requests for the longest request age of all programs`() async throws {
        let schema = try await Schemas.shared.schema()
        var options = PostgresDatabase.Options.patient(changeLogLimit: 1)
        options.requestAge = 3_600
        let slow = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
        options.requestAge = 0
        let fast = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
        for number in 0..<20 {
            try await slow.write(Data(), key: CacheKey("\(number)"))
            try await fast.database.trimmer.trim()
        }
        #expect(try await schema.sql("SELECT count(*) FROM emporium_changes") == "20")
        slow.database.disconnect()
        fast.database.disconnect()
    }
}
#endif
