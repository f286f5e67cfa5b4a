import AsyncHTTPClient
import Bodega
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOHTTP1
import Testing

@testable import PictureAPI

/// What the API answers.
struct PictureRouteTests {

    private struct Session: Decodable { let name, token: String }

    private func run(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let routes = PictureRoutes(chooser: Chooser(seed: 1), members: Members(storage: MemoryStorageEngine()))
        try await Application(responder: routes.router.buildResponder()).test(.router, body)
    }

    private func signIn(_ client: any TestClientProtocol, _ json: String) async throws -> (HTTPResponse.Status, Data) {
        try await client.execute(
            uri: "/v1/sessions", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(string: json)
        ) { ($0.status, Data($0.body.readableBytesView)) }
    }

    private func random(_ client: any TestClientProtocol, _ token: String?) async throws -> (HTTPResponse.Status, Data)
    {
        let headers: HTTPFields = token.map { [.authorization: "Bearer \($0)"] } ?? [:]
        return try await client.execute(uri: "/v1/pictures/random", method: .get, headers: headers) {
            ($0.status, Data($0.body.readableBytesView))
        }
    }

    @Test func `A picture is where its description says`() async throws {
        try await run { client in
            let description = try JSONDecoder().decode(ArtworkDescription.self, from: try await random(client, nil).1)
            #expect(!description.isForMembers)
            try await client.execute(uri: description.image, method: .get) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "image/svg+xml; charset=utf-8")
                #expect(String(buffer: response.body).hasPrefix("<svg"))
            }
        }
    }

    @Test func `Only members get what is for members`() async throws {
        let path = "/v1/pictures/aurora-0000000000000001.svg"
        try await run { client in
            for _ in 0..<60 {
                let json = try await random(client, nil).1
                #expect(try !JSONDecoder().decode(ArtworkDescription.self, from: json).isForMembers)
            }
            try await client.execute(uri: path, method: .get) { #expect($0.status == .forbidden) }

            let (status, json) = try await signIn(client, #"{"name": "Ada", "password": "easel"}"#)
            #expect(status == .created)
            let session = try JSONDecoder().decode(Session.self, from: json)
            #expect(session.name == "Ada")
            let headers: HTTPFields = [.authorization: "Bearer \(session.token)"]
            try await client.execute(uri: path, method: .get, headers: headers) { #expect($0.status == .ok) }

            try await client.execute(uri: "/v1/sessions", method: .delete, headers: headers) {
                #expect($0.status == .noContent)
            }
            #expect(try await random(client, session.token).0 == .unauthorized)
        }
    }

    @Test func `Who does not know the password, or has no name, is not signed in`() async throws {
        try await run { client in
            let wrong = try await signIn(client, #"{"name": "Ada", "password": "canvas"}"#)
            #expect(wrong.0 == .unauthorized)
            let nameless = try await signIn(client, #"{"name": "", "password": "easel"}"#)
            #expect(nameless.0 == .badRequest)
            let nonsense = try await signIn(client, "nonsense")
            #expect(nonsense.0 == .badRequest)
            let invented = try await random(client, "invented")
            #expect(invented.0 == .unauthorized)
        }
    }

    @Test(arguments: [
        "dunes-1.svg", "dunes-0000000000000001", "dunes-0000000000000001.png", "cubism-0000000000000001.svg",
    ])
    func `There are no other pictures`(_ file: String) async throws {
        try await run { client in
            try await client.execute(uri: "/v1/pictures/\(file)", method: .get) { #expect($0.status == .notFound) }
        }
    }

    @Test func `It can be switched off and on, is not there in between, and stays where it was`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pictures-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try PictureAPIServer(directory: FileManager.Directory(url: folder), logger: Logger(label: "tests"))
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(configuration: configuration)
        try await server.setOnline(true)
        let address = await server.address
        #expect(try await http.get(url: address + "/v1/status").get().status == .noContent)
        try await server.setOnline(false)
        await #expect(throws: (any Error).self) { try await http.get(url: address + "/v1/status").get() }
        try await server.setOnline(true)
        #expect(await server.address == address)
        #expect(try await http.get(url: address + "/v1/status").get().status == .noContent)
        // Several at once end as the last one wants it.
        async let off: Void = server.setOnline(false)
        async let on: Void = server.setOnline(true)
        _ = try await (off, on)
        try await server.setOnline(false)
        #expect(await !server.isOnline)
        try await http.shutdown()
    }
}
