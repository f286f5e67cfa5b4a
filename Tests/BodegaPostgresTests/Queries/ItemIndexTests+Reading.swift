#if Postgres
import Bodega
import BodegaTesting
import CPostgres
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Reads by an index, and what ends them.
extension ItemIndexTests {

    /// Executes SQL between two items of a scan, whose receiver can't wait for a task.
    private static func runBlocking(_ sql: String, _ url: String) {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        #expect([PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)))
    }

    private struct Refusal: Error, Equatable {}

    @Test func `An error of the receiver is thrown as it is, and cancelling a task ends a scan`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        try await engine.write(items(200))
        await #expect(throws: Refusal.self) {
            try await engine.scan([.all(after: nil)]) { { _, _ in throw Refusal() } }
        }
        await #expect(throws: Refusal.self) { try await engine.scan([.all(after: nil)]) { throw Refusal() } }
        let received = Locked(0)
        let task = Task {
            try await engine.scan([.all(after: nil)]) {
                { _, _ in
                    received.withLock { $0 += 1 }
                    withUnsafeCurrentTask { $0?.cancel() }
                    return true
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(received.withLock { $0 } == 64)
        #expect(try await engine.fetchCount() == 200)
    }

    @Test func `All scans of one call see the same moment`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        try await engine.createIndex(index)
        try await engine.write(items(200))
        let all = StorageScan.range(index, from: .start, to: .before(.none), isDescending: false, after: nil)
        let counts = Locked([0, 0])
        let hasChanged = Locked(false)
        try await engine.scan([all, all]) {
            { scan, _ in
                counts.withLock { $0[scan] += 1 }
                return true
            }
        }
        #expect(counts.withLock { $0 } == [200, 200])
        // Another program removes items between the batches of the first scan.
        counts.withLock { $0 = [0, 0] }
        try await engine.scan([all, all]) {
            { scan, _ in
                if hasChanged.withLock({ hasChanged in
                    defer { hasChanged = true }; return !hasChanged
                }) {
                    Self.runBlocking("DELETE FROM emporium_items WHERE position % 2 = 0", schema.url)
                }
                counts.withLock { $0[scan] += 1 }
                return true
            }
        }
        #expect(counts.withLock { $0 } == [200, 200])
        #expect(try await engine.count(all, upTo: .max) < 200)
    }

    @Test func `A scan whose connection is lost begins again with another receiver`() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let engine = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 2))
        try await engine.write(items(300))
        let receivers = Locked<[[CacheKey]]>([])
        try await engine.scan([.all(after: nil)]) {
            let number = receivers.withLock { receivers in
                receivers.append([])
                return receivers.count - 1
            }
            return { _, entry in
                let count = receivers.withLock { receivers in
                    receivers[number].append(entry.key)
                    return receivers[number].count
                }
                if number == 0, count == 10 {
                    // The connections in a transaction of this database.
                    Self.runBlocking(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND state = 'idle in transaction'
                        """, database.url)
                }
                return true
            }
        }
        let received = receivers.withLock { $0 }
        #expect(received.count == 2)
        #expect(received.last == items(300).map(\.key))
        engine.database.disconnect()
    }
}
#endif
