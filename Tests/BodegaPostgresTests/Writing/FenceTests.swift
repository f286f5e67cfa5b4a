#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Tests of the outcome of writes without a result.
@Suite("A write without a result")
struct FenceTests {

    private let key = CacheKey("x")

    private struct Place {
        let server: PostgresServer
        let database: PostgresServer.Database
        let proxy: FaultyProxy
        let other: PostgresStorageEngine
        let engine: PostgresStorageEngine

        init(_ server: PostgresServer, timeout: TimeInterval) async throws {
            self.server = server
            database = try await server.makeDatabase()
            proxy = try FaultyProxy(to: server.port)
            other = try await PostgresStorageEngine(connecting: database.url, collection: "x", options: .patient())
            engine = try await PostgresStorageEngine(
                connecting: server.url(through: proxy, database.url), collection: "x",
                options: .init(connectTimeout: 60, timeout: timeout))
        }

        /// Waits until all connections except those of psql have ended, so that the server has executed all statements.
        func finish() async throws {
            engine.database.disconnect()
            other.database.disconnect()
            try await waitUntil("all connections had ended") {
                try await server.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)'") == "0"
            }
        }

        var stored: String {
            get async throws {
                try await database.sql("SELECT convert_from(data, 'UTF8') FROM emporium_items")
            }
        }
    }

    @Test("is not applied later over a newer write", arguments: ["connections frozen", "server processes stopped"])
    func late(fault name: String) async throws {
        let place = try await Place(.launch(), timeout: 4)
        try await place.engine.write(Data("v1".utf8), key: key)
        let (proxy, server, database) = (place.proxy, place.server, place.database.name)
        let fault =
            name == "connections frozen"
            ? Fault.frozen(proxy) : Fault.stopped("backends") { try await server.backends(of: database) }
        try await fault.during {
            do {
                try await place.engine.write(Data("v2".utf8), key: key)
            } catch let error as StorageError where error.code == .timedOut || error.code == .unreachable {
                // A slow machine may lack the time for a new connection.
            }
            let third = try await PostgresStorageEngine(
                connecting: place.database.url, collection: "x", options: .patient())
            try await third.write(Data("v3".utf8), key: key)
            third.database.disconnect()
        }
        try await place.finish()
        #expect(try await place.stored == "v3")
    }

    @Test("suspends the next one until it is settled, if the server could not be reached")
    func partition() async throws {
        let place = try await Place(.launch(), timeout: 2)
        try await place.engine.write(Data("v1".utf8), key: key)
        // Now it has an idle connection.
        await place.engine.database.announcer.finish()
        place.proxy.partition()
        let failure = await #expect(throws: StorageError.self) {
            try await place.engine.write(Data("v2".utf8), key: key)
        }
        #expect([.timedOut, .unreachable].contains(failure?.code))
        #expect(failure?.message.contains("not known yet") == true, "\(String(describing: failure))")
        let next = await #expect(throws: StorageError.self) {
            try await place.engine.write(Data("v3".utf8), key: key)
        }
        #expect([.timedOut, .unreachable].contains(next?.code))
        place.proxy.thaw()
        try await waitUntil("a write succeeded") {
            do {
                try await place.engine.write(Data("v4".utf8), key: key)
                return true
            } catch let error as StorageError where error.code == .timedOut || error.code == .unreachable {
                return false
            }
        }
        try await place.finish()
        #expect(try await place.stored == "v4")
    }

    @Test("is not reported as cancelled, which means that nothing was changed, while its outcome is unknown")
    func cancelled() async throws {
        // Long enough for the test to find the statement.
        let place = try await Place(.launch(), timeout: 15)
        try await place.other.write(Data("v1".utf8), key: key)
        var held: HeldTransaction? = try await HeldTransaction(Schemas.Schema(name: "public", database: place.database))
        try await held?.run("UPDATE emporium_items SET updated_at = updated_at")
        let write = Task { try await place.engine.write(Data("v2".utf8), key: key) }
        try await waitUntil("the write waited for the row") {
            try await place.server.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '\(place.database.name)'"
            ) == "1"
        }
        place.proxy.partition()
        write.cancel()
        let failure = await #expect(throws: StorageError.self) { try await write.value }
        #expect(failure?.code == .timedOut)
        #expect(failure?.message.contains("not known yet") == true, "\(String(describing: failure))")
        #expect(failure?.cause is CancellationError)
        // The server has applied the write after the error, which the error did not exclude.
        try await held?.commit()
        held = nil
        try await waitUntil("the write was applied") { try await place.stored == "v2" }
        place.proxy.thaw()
        try await place.engine.write(Data("v3".utf8), key: key)
        try await place.finish()
        #expect(try await place.stored == "v3")
    }

    @Test("is never applied if the error says so, even when its stopped process resumes")
    func stopped() async throws {
        // Long enough for the test to find the process.
        let place = try await Place(.launch(), timeout: 15)
        let server = place.server
        try await place.other.write(Data("v1".utf8), key: key)
        // The write waits for the row lock, in a process that the test stops.
        var held: HeldTransaction? = try await HeldTransaction(Schemas.Schema(name: "public", database: place.database))
        try await held?.run("UPDATE emporium_items SET updated_at = updated_at")
        place.engine.database.pool.suspectConnections()
        let waiting = """
            SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '\(place.database.name)'
            """
        async let failure = #expect(throws: StorageError.self) {
            try await place.engine.write(Data("v2".utf8), key: key)
        }
        var process: Int32?
        try await waitUntil("the write waited") {
            process = Int32(try await server.sql(waiting))
            return process != nil
        }
        let stopped = try #require(process)
        #expect(ProcessSignal.stop.send(to: stopped))
        let error = await failure
        #expect(error?.code == .timedOut)
        #expect(error?.message.hasSuffix("Nothing was changed.") == true, "\(String(describing: error))")
        try await held?.commit()
        held = nil
        try await place.other.write(Data("v3".utf8), key: key)
        #expect(ProcessSignal.resume.send(to: stopped))
        try await place.finish()
        #expect(try await place.stored == "v3")
    }

    @Test("is settled again with the same outcome if the fence's own result was lost")
    func settledTwice() async throws {
        let place = try await Place(.shared(), timeout: 30)
        let request = ChangeRequest(collection: place.engine.number, origin: UUID(), identifier: UUID())
        let write = WriteFence.UnsettledWrite(request: request, locksFirst: true)
        for _ in 0..<2 {
            #expect(await place.engine.database.fence.settle(write, until: .after(60)) == .neverApplied)
        }
        try await place.other.write(Data("v1".utf8), key: key)
        let applied = try await place.database.sql("SELECT request FROM emporium_changes WHERE written <> '{}'")
        let known = ChangeRequest(
            collection: place.other.number, origin: UUID(), identifier: try #require(UUID(uuidString: applied)))
        for _ in 0..<2 {
            let write = WriteFence.UnsettledWrite(request: known, locksFirst: true)
            #expect(await place.engine.database.fence.settle(write, until: .after(60)) == .applied)
        }
        try await place.finish()
    }

    @Test("that the server rejects is reported as such, and the next write does not wait")
    func readOnly() async throws {
        let place = try await Place(.launch(), timeout: 240)
        try await place.database.sql("ALTER DATABASE \(place.database.name) SET default_transaction_read_only TO on")
        place.engine.database.pool.suspectConnections()
        for _ in 0..<3 {
            let failure = await #expect(throws: StorageError.self) {
                try await place.engine.write(Data("v1".utf8), key: key)
            }
            #expect(failure?.code == .readOnly)
            #expect(failure?.message.contains("not known") == false)
        }
        try await place.finish()
    }

    @Test("costs one timeout for all dead connections, and no operation fails")
    func deadConnections() async throws {
        let place = try await Place(.launch(), timeout: 20)
        // Opens connections of both kinds, which become idle.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await place.engine.write(Data(), key: CacheKey("\(number)"))
                    _ = try await place.engine.fetch(key: CacheKey("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        let connections = place.proxy.connectionCount
        #expect(connections > 4)
        place.proxy.freeze()
        let began = ContinuousClock.now
        for number in 0..<9 {
            switch number % 3 {
            case 0: _ = try await place.engine.fetch(key: CacheKey("\(number)"))
            case 1: try await place.engine.write(Data("again".utf8), key: CacheKey("\(number)"))
            default: #expect(try await place.engine.fetchCount() == 100)
            }
        }
        // The lanes and the pool each wait for half of the timeout at most once.
        print("Nine operations on \(connections) dead connections: \(ContinuousClock.now - began)")
        place.proxy.cut(.reset)
        try await place.finish()
    }
}
#endif
