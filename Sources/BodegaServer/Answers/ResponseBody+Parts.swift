#if Server
import Hummingbird
import NIOCore

extension ResponseBody {
    /// A body that is sent in parts, at the speed at which the client reads.
    ///
    /// SwiftNIO takes bytes of any number, and says nothing until most of them are sent. The limits of time need
    /// smaller steps: to them, a client that takes some minutes for all of the bytes would not read, or be idle.
    static func inParts(_ bytes: ByteBuffer) -> ResponseBody {
        if bytes.readableBytes <= ByteBuffer.partSize { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
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

/// The connection for which a task answers requests.
enum ServedConnection {
    /// Its event loop; `nil` for the routes of an application that has others as well.
    @TaskLocal static var eventLoop: (any EventLoop)?

    /// Waits until the connection has what was written to it, so that it can make the next write wait.
    ///
    /// A write returns when it is on the way to the event loop. Until the loop has seen it, more would be taken, and be
    /// kept in memory: on a busy machine tens of megabytes for one client, which could not read them in time.
    static func catchUp() async throws { try await eventLoop?.submit {}.get() }
}

extension ByteBuffer {
    /// As many bytes as SwiftNIO takes before writers wait.
    fileprivate static let partSize = 64 << 10
}
#endif
