import Foundation
import Hummingbird
import HummingbirdTesting

@testable import Gallery

/// An API whose responses a test determines.
struct StubAPI: Sendable {
    /// The description of its picture, in JSON.
    var description = StubAPI.description()
    /// The bytes of the picture.
    var image =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"3\"><rect width=\"4\" height=\"3\"/></svg>"
    /// The content type of the bytes.
    var type = "image/svg+xml"
    /// An action before it responds to a request for a picture.
    var beforeAnswer: @Sendable () async -> Void = {}
    /// The token for which it refuses pictures, as if it did not know the session.
    var unknownToken: String?

    /// A valid description with the given changes.
    static func description(_ changes: [String: any Sendable] = [:]) -> String {
        var values: [String: any Sendable] = [
            "id": "stub-1", "title": "A Stub", "style": "stub", "algorithm": "By hand", "palette": "Grey",
            "colors": ["#808080", "#ffffff"], "width": 4, "height": 3, "seed": "1", "isForMembers": false,
            "image": "/stub.svg",
        ]
        values.merge(changes) { $1 }
        let json = try? JSONSerialization.data(withJSONObject: values)
        return String(decoding: json ?? Data(), as: UTF8.self)
    }

    /// Runs a body while the API is listening.
    func run(_ body: @Sendable (_ address: String) async throws -> Void) async throws {
        let router = Router()
        router.get("v1/status") { _, _ in HTTPResponse.Status.noContent }
        router.get("v1/pictures/random") { request, _ in
            await beforeAnswer()
            let isKnown = unknownToken.map { request.headers[.authorization] != "Bearer \($0)" } ?? true
            return Response(
                status: isKnown ? .ok : .unauthorized,
                body: ResponseBody(byteBuffer: ByteBuffer(string: description)))
        }
        router.get("stub.svg") { _, _ in
            Response(
                status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: image)))
        }
        router.get("elsewhere") { _, _ in Response.redirect(to: "/stub.svg") }
        router.get("never") { request, _ in
            // The response begins, and does not end before the client disconnects.
            Response(
                status: .ok, headers: [.contentType: "image/svg+xml"],
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: "<svg"))
                    try await request.body.consumeWithCancellationOnInboundClose { _ in try await waitForCancellation()
                    }
                })
        }
        try await Application(router: router).test(.live) { client in
            try await body("http://127.0.0.1:\(client.port ?? 0)")
        }
    }
}

/// Waits until the task is cancelled.
private func waitForCancellation() async throws {
    for await _ in AsyncStream<Never>.makeStream().stream {}
    throw CancellationError()
}
