import AsyncHTTPClient
import Bodega
import BodegaServer
import BodegaTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("The readiness of a server")
struct ReadinessTests {
    private let engine = FaultInjectingStorageEngine(MemoryStorageEngine())

    private func ask(
        _ server: TestServer, _ path: String = "ready", _ method: HTTPMethod = .GET
    ) async throws -> (status: UInt, text: String) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/v1/\(path)")
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 16)))
    }

    @Test("is that its database can be read, while its health is that it listens")
    func readable() async throws {
        let server = try await TestServer(["notes": engine])
        #expect(try await ask(server).status == 204)
        engine.inject(.fail(.reads, with: StorageError(.damaged, "The secret file /var/secret is damaged.")))
        while try await ask(server).status == 204 { await Task.yield() }
        let answer = try await ask(server)
        #expect(answer.status == 503)
        #expect(!answer.text.contains("secret"))
        #expect(try await ask(server, "ready", .HEAD) == (503, ""))
        for method in [HTTPMethod.GET, .HEAD] { #expect(try await ask(server, "health", method).status == 204) }
        #expect(try await ask(server, "health", .POST).status == 405)
        engine.clearFaults()
        while try await ask(server).status == 503 { await Task.yield() }
    }

    @Test("is decided within seconds, and by one read, however many ask")
    func silent() async throws {
        let gate = StorageGate()
        engine.inject(.hold(.reads, at: gate))
        let server = try await TestServer(["notes": engine])
        let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<50 { group.addTask { try await ask(server).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 503, count: 50))
        #expect(gate.arrivals == 1)
        gate.release()
        while try await ask(server).status == 503 { await Task.yield() }
    }

    @Test("is that of the collection for receipts, or what the program says")
    func others() async throws {
        var collections = StorageCollections { _ in nil }
        #expect(try await ask(try await TestServer(collections)).status == 204)
        engine.inject(.fail(.reads))
        collections.receipts = engine
        #expect(try await ask(try await TestServer(collections)).status == 503)
        collections.checkReadiness = {}
        #expect(try await ask(try await TestServer(collections)).status == 204)
    }
}
