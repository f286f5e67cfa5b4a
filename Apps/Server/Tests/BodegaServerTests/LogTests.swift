import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Testing

@Suite("The log of a server")
struct LogTests {

    private final class Lines: @unchecked Sendable {
        // @unchecked because the lock guards the lines.
        private let lock = NSLock()
        private var lines: [String] = []

        func add(_ line: String) { lock.withLock { lines.append(line) } }

        var all: [String] { lock.withLock { lines } }
    }

    /// Keeps all that is logged, of each level.
    private struct RecordingHandler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.add("\(event.level) \(event.message) \(all) \(event.error.map { "\($0)" } ?? "")")
        }
    }

    @Test("has neither tokens nor keys nor items, also of requests that fail")
    func secrets() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in RecordingHandler(lines: lines) }
        let engine = MemoryStorageEngine()
        let tokens = AccessTokens(storage: engine.collection(named: "tokens"))
        let made = try await tokens.create(name: "a", grants: [AccessGrant()])
        let failure = StorageError(
            .inputOutput, "The item confidential can't be read.", key: CacheKey("privatekey"),
            file: URL(fileURLWithPath: "/private/confidential"))
        let failing = FaultInjectingStorageEngine(engine, faults: [.fail(.reads, with: failure)])
        let secret = try #require(made.token.split(separator: "_").last.map(String.init))
        let server = try await TestServer(
            access: tokens, logger: logger, ["notes": engine, "failing": failing])
        let item = #"{"text":"confidential"}"#
        func send(_ method: HTTPMethod, _ path: String, _ token: String?, _ body: String? = nil) async throws -> UInt {
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/\(path)")
            request.method = method
            if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            request.headers.add(name: "Content-Type", value: "application/json")
            return try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status.code
        }
        for token in [made.token, made.token + "x", nil] {
            _ = try await send(.PUT, "notes/items/privatekey", token, item)
            _ = try await send(.GET, "notes/items/privatekey", token)
            _ = try await send(.GET, "notes/items/privatekey%FF", token)
            _ = try await send(.GET, "privatecollection/items/privatekey", token)
            _ = try await send(.POST, "notes/scan", token, "{}")
            _ = try await send(.POST, "notes/scan", token, item.dropLast() + "confidential")
            _ = try await send(.DELETE, "notes/items/privatekey", token)
            _ = try await send(.PATCH, "notes/items/privatekey?privatequery", token, item)
        }
        #expect(try await send(.GET, "failing/items/privatekey", made.token) == 500)
        let damaged = try RawConnection(port: server.port)
        damaged.send("GET /privatekey confidential\r\nAuthorization: Bearer \(made.token)\r\n\r\n")
        _ = await damaged.receive()
        await server.stop()

        #expect(lines.all.contains { $0.contains("A request failed") } && lines.all.contains { $0.hasPrefix("trace") })
        for word in [secret, made.token, "private", "confidential"] {
            let found = lines.all.filter { $0.contains(word) }
            #expect(found.isEmpty)
        }
    }
}
