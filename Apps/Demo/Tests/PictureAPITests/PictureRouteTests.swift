import AsyncHTTPClient
import Bodega
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOHTTP1
import Testing

@testable import PictureAPI

/// The responses of the API.
struct PictureRouteTests {

    private struct Session: Decodable { let name, token: String }

    private func run(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let routes = PictureRoutes(chooser: Chooser(seed: 1), members: Members(storage: MemoryStorageEngine()))
        try await Application(responder: routes.router.buildResponder()).test(.router, body)
    }

    private func signIn(
        _ client: any TestClientProtocol,
        _ json: String,
        _ headers: HTTPFields = [.contentType: "application/json"]
    ) async throws -> (HTTPResponse.Status, Data) {
        try await client.execute(
            uri: "/v1/sessions", method: .post, headers: headers,
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

    @Test func `Only members get the pictures for members`() async throws {
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

    @Test func `Signing in with a wrong password or an invalid name fails`() async throws {
        try await run { client in
            let wrong = try await signIn(client, #"{"name": "Ada", "password": "canvas"}"#)
            #expect(wrong.0 == .unauthorized)
            let nameless = try await signIn(client, #"{"name": "", "password": "easel"}"#)
            #expect(nameless.0 == .badRequest)
            let family = String(repeating: "👩‍👩‍👧‍👦", count: 9)
            let long = try await signIn(client, #"{"name": "\#(family)", "password": "easel"}"#)
            #expect(long.0 == .badRequest)
            let nonsense = try await signIn(client, "nonsense")
            #expect(nonsense.0 == .badRequest)
            let invented = try await random(client, "invented")
            #expect(invented.0 == .unauthorized)
        }
    }

    @Test(
        arguments: [
            ("application/json; charset=utf-8", .created), ("text/plain", .unsupportedMediaType),
            ("application/x-www-form-urlencoded", .unsupportedMediaType), (nil, .unsupportedMediaType),
        ] as [(String?, HTTPResponse.Status)])
    func `Only JSON signs in`(_ type: String?, _ status: HTTPResponse.Status) async throws {
        try await run { client in
            let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
            let answer = try await signIn(client, #"{"name": "Ada", "password": "easel"}"#, headers)
            #expect(answer.0 == status)
        }
    }

    @Test(arguments: [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "same-site")])
    func `Pages of websites can neither sign in nor sign out`(_ name: String, _ value: String) async throws {
        try await run { client in
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[try #require(HTTPField.Name(name))] = value
            let answer = try await signIn(client, #"{"name": "Ada", "password": "easel"}"#, headers)
            #expect(answer.0 == .forbidden)
            try await client.execute(uri: "/v1/sessions", method: .delete, headers: headers) {
                #expect($0.status == .forbidden)
            }
        }
    }

    @Test(arguments: [
        "dunes-1.svg", "dunes-0000000000000001", "dunes-0000000000000001.png", "cubism-0000000000000001.svg",
    ])
    func `An unknown picture is not found`(_ file: String) async throws {
        try await run { client in
            try await client.execute(uri: "/v1/pictures/\(file)", method: .get) { #expect($0.status == .notFound) }
        }
    }
}
