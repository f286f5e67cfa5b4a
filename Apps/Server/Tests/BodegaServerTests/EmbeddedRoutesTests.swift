import Bodega
import BodegaRemote
import BodegaServer
import Boutique
import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

// The program of the guide.
private struct Note: Codable, Identifiable, Sendable {
    var id: String
    var text: String
}

@MainActor
private func makeRouter(_ database: SQLiteStorageEngine) async throws -> Router<BasicRequestContext> {
    let notes = try database.collection(named: "notes")
    let store = try await Store<Note>(storage: notes)
    let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
    let router = Router()
    // A page of the app's own, from the store.
    router.get("titles") { _, _ in
        await store.items.map(\.text).joined(separator: "\n")
    }
    router.post("titles") { request, _ in
        let body = try await request.body.collect(upTo: 1 << 16)
        try await store.insert(Note(id: UUID().uuidString, text: String(buffer: body)))
        return HTTPResponse.Status.created
    }
    // The same collection for clients with tokens, at /data/v1.
    StorageRoutes(access: tokens, collections: ["notes": notes]).add(to: router.group("data"))
    return router
}

@Suite("The guide to a Hummingbird app with a store")
struct EmbeddedRoutesTests {

    @Test("shows the program that this test runs")
    func snippet() throws {
        let program = try Guide("AServerInYourApp").snippet("swift").split(separator: "\n")
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8).split(separator: "\n")
            .map { $0.hasPrefix("private ") ? $0.dropFirst("private ".count) : $0 }
        let start = try #require(source.firstIndex(of: "struct Note: Codable, Identifiable, Sendable {"))
        let code = program.drop { $0.hasPrefix("import ") }
        #expect(Array(source[start...].prefix(code.count)) == Array(code))
    }

    @MainActor
    @Test("serves its own pages and clients from one collection")
    func run() async throws {
        let folder = try BodegaTool()
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: folder.path("app.db")))
        let (token, _) = try await AccessTokens(storage: try database.collection(named: "tokens")).create(
            name: "test", grants: [AccessGrant(collection: "notes")])
        let app = Application(
            router: try await makeRouter(database), configuration: .init(address: .hostname("127.0.0.1", port: 0)))
        try await app.test(.live) { client in
            let port = try #require(client.port)
            let address = try StorageAddress(parsing: "http://127.0.0.1:\(port)/data#notes")
            let engine = try await RemoteStorageEngine(address) { token }
            let created = try await client.execute(
                uri: "/titles", method: .post, body: ByteBuffer(string: "from the app")
            ) { $0.status }
            #expect(created == .created)
            #expect(
                try await engine.fetchAll().map { String(decoding: $0.data, as: UTF8.self) }.joined().contains(
                    "from the app"))
            try await engine.write(Data(#"{"id":"a","text":"from a client"}"#.utf8), key: CacheKey("a"))
            // The store follows the changes of others.
            var titles = ""
            while !titles.contains("from a client") {
                titles = try await client.execute(uri: "/titles", method: .get) { String(buffer: $0.body) }
            }
            #expect(titles == "from the app\nfrom a client")
            let other = await #expect(throws: StorageError.self) { try await RemoteStorageEngine(address) }
            #expect(other?.code == .unauthorized)
        }
    }
}
