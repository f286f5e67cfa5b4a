#if Server
import Hummingbird
import NIOCore

extension ResponseBody {
    /// A body that is sent in parts, at the speed at which the client reads.
    ///
    /// SwiftNIO takes bytes of any number, and says nothing until most of them are sent. The limits of time need
    /// smaller steps: to them, a client that takes some minutes for all of the bytes would not read, or be idle.
    ///
    /// - Parameter space: The memory that counts as used until all of it is sent.
    static func inParts(_ bytes: ByteBuffer, holding space: RequestSpace? = nil) -> ResponseBody {
        if bytes.readableBytes <= ByteBuffer.partSize { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            defer { withExtendedLifetime(space) {} }
            try await writer.write(inParts: bytes)
            try await writer.finish(nil)
        }
    }
}

extension ResponseBodyWriter {
    /// Writes bytes at the speed at which the client reads, see ``ResponseBody/inParts(_:)``.
    mutating func write(inParts bytes: ByteBuffer) async throws {
        var rest = bytes
        while let part = rest.readSlice(length: min(rest.readableBytes, ByteBuffer.partSize)), part.readableBytes > 0 {
            try await write(part)
            if part.readableBytes >= ByteBuffer.partSize / 2 { try await ServedConnection.catchUp() }
        }
    }
}

extension ByteBuffer {
    /// As many bytes as SwiftNIO takes before writers wait.
    fileprivate static let partSize = 64 << 10
}
#endif
