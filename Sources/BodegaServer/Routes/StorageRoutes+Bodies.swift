#if Server
import Bodega
import BodegaMessages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

// The bodies of requests.
extension StorageRoutes {

    /// Reads the message in the body of a request.
    func message(_ request: ClientRequest) async throws -> JSONPart {
        try JSONPart(await body(of: request), isRequest: true)
    }

    /// Reads the body of a request, whose memory counts as used until the request has ended.
    func body(of client: ClientRequest) async throws -> Data {
        let request = client.request
        // SwiftNIO decodes only this one; see RFC 9112, section 6.1.
        guard request.headers[.transferEncoding].map({ $0.lowercased() == "chunked" }) ?? true else {
            throw RequestRefusal.unknownTransferCoding
        }
        let codings = request.headers[.contentEncoding]?.split(separator: ",") ?? []
        guard codings.allSatisfy({ $0.trimmingCharacters(in: .whitespaces).lowercased() == "identity" }) else {
            throw RequestRefusal.isEncoded
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.requestBytes {
            throw bodyTooLarge()
        }
        var body = ByteBuffer()
        for try await part in request.body {
            guard part.readableBytes <= limits.requestBytes - body.readableBytes else { throw bodyTooLarge() }
            do {
                try client.space.take(part.readableBytes)
            } catch let shortage as SharedSpace.Shortage {
                throw RequestRefusal.noMemory(shortage)
            }
            body.writeImmutableBuffer(part)
        }
        return Data(body.readableBytesView)
    }

    private func bodyTooLarge() -> StorageError {
        metrics?.refused(.bodies)
        return StorageError(
            .tooLarge, "The body of the request is larger than \(limits.requestBytes) bytes, the limit.")
    }
}
#endif
