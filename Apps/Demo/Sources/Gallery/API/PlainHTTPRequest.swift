import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request over HTTP/1.1, without TLS.
///
/// Each request has a connection of its own, so no request is sent on a connection that the server is closing. The
/// request goes to the host of its URL, never to a proxy. Redirects are responses like all others.
struct PlainHTTPRequest: Sendable {
    /// A response with its whole body.
    struct Response: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: ByteBuffer
    }

    private let host: String
    private let port: Int
    private var head: HTTPRequestHead
    private var body: ByteBuffer?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL. Characters that a URL can't contain are percent-encoded, so it is always one line.
    /// - Throws: A `URLError` if the URL is invalid, or its scheme is not `http`.
    init(_ method: HTTPMethod, url: String) throws {
        guard let components = URLComponents(string: url), components.scheme == "http", let host = components.host,
            !host.isEmpty
        else { throw URLError(.badURL) }
        self.host = host
        port = components.port ?? 80
        let path = components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath
        let query = components.percentEncodedQuery.map { "?\($0)" } ?? ""
        head = HTTPRequestHead(
            version: .http1_1, method: method, uri: path + query,
            headers: ["Host": "\(host):\(port)", "Connection": "close"])
    }

    /// Adds a token to the request.
    mutating func authorize(token: String) {
        head.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token)")
    }

    /// Sets the body.
    mutating func setBody(_ bytes: Data, type: String) {
        head.headers.replaceOrAdd(name: "Content-Type", value: type)
        head.headers.replaceOrAdd(name: "Content-Length", value: String(bytes.count))
        body = ByteBuffer(bytes: bytes)
    }

    /// Sends the request and receives the response.
    ///
    /// If the task is cancelled, the connection is closed.
    ///
    /// - Parameters:
    ///   - limit: The maximum size of the response's body, in bytes. The client stops reading as soon as the body
    ///     exceeds it.
    ///   - connectTimeout: The time limit for establishing the connection, which continues after the task is cancelled.
    /// - Throws: A `NIOTooManyBytesError` if the body exceeds the limit, or the error of the connection.
    func response(upTo limit: Int, connectTimeout: Duration) async throws -> Response {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(TimeAmount(connectTimeout))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            let parts = [.head(head), body.map { .body(.byteBuffer($0)) }, .end(nil)] as [HTTPClientRequestPart?]
            // The server may respond, and close the connection, before this has finished. So only reading decides.
            try? await outbound.write(contentsOf: parts.compactMap { $0 })
            return try await Self.collect(inbound, upTo: limit)
        }
    }

    private static func collect(
        _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>, upTo limit: Int
    ) async throws -> Response {
        var head: HTTPResponseHead?
        var body = ByteBuffer()
        for try await part in parts {
            switch part {
            case .head(let received):
                head = received
            case .body(let bytes):
                guard bytes.readableBytes <= limit - body.readableBytes else {
                    throw NIOTooManyBytesError(maxBytes: limit)
                }
                body.writeImmutableBuffer(bytes)
            case .end:
                guard let head else { throw ChannelError.eof }
                return Response(status: head.status, headers: head.headers, body: body)
            }
        }
        throw ChannelError.eof
    }
}
