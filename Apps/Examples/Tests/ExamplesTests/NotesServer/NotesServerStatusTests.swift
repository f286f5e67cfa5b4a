import Bodega
import BodegaTesting
import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import NotesServer

/// The statuses of requests for which the storage fails.
@Suite struct NotesServerStatusTests {

    @Test(
        arguments: [
            (.invalidArgument, 400), (.tooLarge, 413), (.storageFull, 507), (.readOnly, 503), (.locked, 503),
            (.conflict, 503), (.closed, 503), (.timedOut, 503), (.unreachable, 503), (.placeRemoved, 503),
            (.damaged, 500), (.permissionDenied, 500), (.inputOutput, 500), (.init(rawValue: "other"), 500),
        ] as [(StorageError.Code, Int)])
    func `A failure of the storage has a status, and its details are not sent`(
        _ code: StorageError.Code, _ status: Int
    ) async throws {
        let engine = FaultInjectingStorageEngine(MemoryStorageEngine())
        try await Application(router: NotesAPI(engine: engine).router()).test(.router) { client in
            let body = ByteBuffer(string: #"{"text": "1"}"#)
            engine.inject(.fail(.writes, with: StorageError(code, "/secret/path")))
            let answer = try await client.execute(uri: "/notes/milk", method: .put, body: body)
            #expect(answer.status.code == status)
            #expect(String(buffer: answer.body) == #"{"error":{"message":"\#(code)"}}"#)
            #expect(answer.headers[.retryAfter] == (status == 503 ? "1" : nil))
            engine.clearFaults()
            #expect(try await client.execute(uri: "/notes/milk", method: .put, body: body).status == .ok)
        }
    }

    @Test func `An identifier that is not UTF-8 is refused`() async throws {
        try await Application(router: NotesAPI(engine: MemoryStorageEngine()).router()).test(.router) { client in
            let refused = try await client.execute(uri: "/notes/%FF", method: .get)
            #expect(refused.status == .badRequest)
            let missing = try await client.execute(uri: "/notes/%C3%A9", method: .get)
            #expect(missing.status == .notFound)
        }
    }

    @Test func `A record that is no note is omitted from lists`() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data("{}".utf8), key: CacheKey("strange"))
        try await Application(router: NotesAPI(engine: engine).router()).test(.router) { client in
            let list = try await client.execute(uri: "/notes", method: .get)
            #expect(String(buffer: list.body) == #"{"notes":[]}"#)
            #expect(try await client.execute(uri: "/notes/strange", method: .get).status == .internalServerError)
        }
    }
}
