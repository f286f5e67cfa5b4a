import Bodega
@testable import BodegaHTTP
import Foundation
import TestSupport
import Testing

/// Methods, and requests that must not be repeated.
@Suite struct HTTPMethodTests {
    private let mark = UUID().uuidString

    @Test(arguments: HTTPClientKind.allCases)
    func `A head has the headers of the response and no body`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport(maximumConnections: 1)
        var request = try server.request("fault/body", ["hex": "616263", "mark": mark], method: .head)
        // The length is that of a body which does not follow.
        request.maximumResponseBytes = 0
        for _ in 0..<3 {
            let response = try await transport.send(request)
            #expect(response.status == 200)
            #expect(response.header("content-length") == "3")
            #expect(response.body.isEmpty)
            var parts = try await transport.open(request).makeAsyncIterator()
            #expect(try await parts.next() == nil)
        }
        #expect(try await server.requests(containing: mark).map(\.method) == Array(repeating: "HEAD", count: 6))
    }

    @Test(arguments: HTTPClientKind.allCases, [nil, "", "body"])
    func `A post has a body with a length`(_ kind: HTTPClientKind, _ body: String?) async throws {
        let server = try await APIServer.shared.value
        var request = try server.request("fault/body", ["hex": "616263", "mark": mark], method: .post)
        request.body = body.map { Data($0.utf8) }
        #expect(try await kind.transport().send(request).body == Data("abc".utf8))
        let received = try await server.requests(containing: mark)
        #expect(received.map(\.method) == ["POST"])
        #expect(received.first?.headers["Content-Length"] == "\(body?.utf8.count ?? 0)")
    }

    /// The server reads a request on a connection that it has used before, and closes the connection.
    @Test(arguments: HTTPClientKind.allCases, [false, true])
    func `A request that is not idempotent does not follow another on its connection`(
        _ kind: HTTPClientKind, _ isStream: Bool
    ) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        func call(_ method: HTTPStorageRequest.Method, _ path: String) async throws -> Int {
            let request = try server.request(path, ["mark": mark], method: method)
            #expect(request.isIdempotent == (method != .post))
            if !isStream { return try await transport.send(request).status }
            let stream = try await transport.open(request)
            for try await _ in stream {}
            return stream.head.status
        }
        for number in 0..<4 {
            // Its connection may be reused afterwards.
            #expect(try await call(.get, "items/\(mark)") == 200)
            #expect(try await call(.post, "closing/\(mark)/\(number)") == 404)
        }
        let methods = try await server.requests(containing: "closing/\(mark)").map(\.method)
        #expect(methods == Array(repeating: "POST", count: 4))
    }

    @Test func `A repeated request is one that is idempotent`() async throws {
        let server = try await APIServer.shared.value
        for method in [HTTPStorageRequest.Method.get, .post] {
            for isIdempotent in [true, false] {
                let transport = URLSessionTransport(maximumConnections: 1)
                let path = "closing/\(UUID().uuidString)"
                for number in 0..<2 {
                    var request = try server.request("\(path)/\(number)", method: method)
                    request.isIdempotent = isIdempotent
                    #expect(try await transport.send(request).status == 404)
                }
                let methods = try await server.requests(containing: path).map(\.method)
                let repeated = [method.rawValue, "CLOSED", method.rawValue]
                #expect(methods == (isIdempotent ? repeated : [method.rawValue, method.rawValue]))
            }
        }
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `A request without a response is not repeated`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        for method in [HTTPStorageRequest.Method.post, .put] {
            let path = "fault/hangup/\(UUID().uuidString)"
            var request = try server.request(path, method: method)
            (request.body, request.isIdempotent) = (Data("body".utf8), false)
            let error = await #expect(throws: StorageError.self) { _ = try await transport.send(request) }
            #expect(error?.code == .unreachable)
            #expect(try await server.requests(containing: path).map(\.method) == [method.rawValue])
        }
    }
}
