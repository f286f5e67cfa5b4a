import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Foundation
import Testing

@Suite("What a client may take of a server")
struct ClientShareTests {
    private let database = MemoryStorageEngine()
    private let tokens: AccessTokens

    init() { tokens = AccessTokens(storage: database.collection(named: "tokens")) }

    private func token(_ name: String) async throws -> String {
        try await tokens.create(name: name, grants: [AccessGrant()]).token
    }

    // MARK: Memory

    private static let bodyBytes = 900

    /// Begins to write an item, and stops before the last byte.
    private func begin(_ server: TestServer, _ token: String) throws -> RawConnection {
        let connection = try RawConnection(port: server.port)
        connection.send(
            """
            PUT /v1/collections/notes/items/a HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Content-Length: \(Self.bodyBytes)\r
            \r\n
            """ + String(repeating: "1", count: Self.bodyBytes - 1))
        return connection
    }

    private func end(_ connection: RawConnection) async -> String {
        connection.send("1")
        return await connection.receive(to: "\r\n\r\n")
    }

    private func write(_ server: TestServer, _ token: String) async throws -> String {
        await end(try begin(server, token))
    }

    private func received(_ metrics: StorageServerMetrics) -> Int {
        let lines = metrics.text.split(separator: "\n")
        return lines.lazy.compactMap { $0.wholeMatch(of: /emporium_request_bytes_total (\d+)/)?.1 }.compactMap {
            Int($0)
        }
        .first ?? 0
    }

    /// Waits until what others have sent has arrived, because otherwise a later request could be admitted before.
    private func waitUntil(_ server: TestServer, _ metrics: StorageServerMetrics, hasReceived bytes: Int) async throws {
        while received(metrics) < bytes {
            let probe = try RawConnection(port: server.port)
            probe.send("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await probe.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        }
    }

    @Test("is limited in the bodies that it sends at the same time, alone and with all others")
    func bodies() async throws {
        let metrics = StorageServerMetrics()
        let server = try await TestServer(access: tokens, ["notes": database]) { options in
            options.limits.requestBytes = 1_000
            (options.limits.bodyBytes, options.limits.totalBodyBytes) = (2_000, 3_000)
            options.metrics = metrics
        }
        let (own, other, third) = (try await token("a"), try await token("b"), try await token("c"))
        var stopped = [try begin(server, own), try begin(server, own)]
        try await waitUntil(server, metrics, hasReceived: 2 * (Self.bodyBytes - 1))
        var answer = ""
        repeat { answer = try await write(server, own) } while answer.hasPrefix("HTTP/1.1 204")
        #expect(answer.hasPrefix("HTTP/1.1 429") && answer.lowercased().contains("retry-after: 5"))
        #expect(metrics.text.contains("emporium_refused_total{limit=\"bodies\"} 1\n"))
        #expect(try await write(server, other).hasPrefix("HTTP/1.1 204"))
        let before = received(metrics)
        stopped.append(try begin(server, other))
        try await waitUntil(server, metrics, hasReceived: before + Self.bodyBytes - 1)
        repeat { answer = try await write(server, third) } while answer.hasPrefix("HTTP/1.1 204")
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.lowercased().contains("retry-after: 5"))
        for connection in stopped { #expect(await end(connection).hasPrefix("HTTP/1.1 204")) }
        // The memory is free again.
        #expect(try await write(server, own).hasPrefix("HTTP/1.1 204"))
        #expect(try await write(server, third).hasPrefix("HTTP/1.1 204"))
    }

    @Test("is never so limited that it can't send a request that is as large as one may be")
    func smallLimits() async throws {
        let server = try await TestServer(access: tokens, ["notes": database]) { options in
            options.limits.requestBytes = 1_000
            (options.limits.bodyBytes, options.limits.totalBodyBytes) = (10, 10)
        }
        #expect(try await write(server, try await token("a")).hasPrefix("HTTP/1.1 204"))
    }

    // MARK: Reads

    @Test("is limited in the reads of many items that run at the same time, each client by itself")
    func reads() async throws {
        let (gate, otherGate) = (StorageGate(), StorageGate())
        let server = try await TestServer(
            access: tokens,
            [
                "left": FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.hold([.scan], at: gate)]),
                "right": FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.hold([.scan], at: otherGate)]),
            ]
        ) { $0.limits.concurrentReads = 2 }
        let left = try await server.engine("left", token: try await token("a"))
        let right = try await server.engine("right", token: try await token("b"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { _ = try await left.fetchAllData() } }
            await gate.waitForArrivals(2)
            // Those of another client go on, and so do reads of one item.
            group.addTask { _ = try await right.fetchAllData() }
            await otherGate.waitForArrivals(1)
            #expect(try await left.fetch(key: CacheKey("a")) == nil)
            #expect(gate.arrivals == 2)
            gate.release()
            otherGate.release()
            try await group.waitForAll()
        }
        #expect(gate.arrivals == 5)
    }
}
