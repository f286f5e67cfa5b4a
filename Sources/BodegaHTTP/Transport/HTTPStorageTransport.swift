import Bodega
public import Foundation

/// Sends the requests of an engine such as ``HTTPStorageEngine``. ``URLSessionTransport`` is the default.
///
/// A transport does not follow redirects, and it stores no responses, cookies or credentials. It sends a request again
/// only if the request is idempotent and a connection that it reused has ended before any byte of the response: the
/// server was closing it.
public protocol HTTPStorageTransport: Sendable {

    /// Sends a request and receives the whole response.
    ///
    /// When the task is cancelled, the method throws soon afterwards. The server may still receive the request.
    ///
    /// - Parameter request: The request, with its limits.
    /// - Returns: The response, whatever its status.
    /// - Throws: A `StorageError`: `timedOut` after the time limit of the request, `tooLarge` as soon as the body
    ///   exceeds its limit, `unreachable` if the server can't be reached or the connection is lost. Its message and its
    ///   cause contain no headers. `CancellationError` after a cancellation.
    func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse

    /// Sends a request and returns when the head of the response has arrived. The body is read while it arrives.
    ///
    /// The body may be of any size, and without an end. The time limit of the request is the time within which the head
    /// must arrive, and after it each further byte. It does not count while the transfer waits for the reader.
    ///
    /// By default, the method calls ``send(_:)`` and returns a stream of one part, with the limits of that method.
    ///
    /// - Parameter request: The request. Its maximum number of bytes does not limit the body.
    /// - Returns: The response, of any status.
    /// - Throws: The errors of ``send(_:)``. The stream throws them as well.
    func open(_ request: HTTPStorageRequest) async throws -> HTTPStorageStream
}

extension HTTPStorageTransport {

    public func open(_ request: HTTPStorageRequest) async throws -> HTTPStorageStream {
        let response = try await send(request)
        let parts = Locked(response.body.isEmpty ? [] : [response.body])
        return HTTPStorageStream(head: response) { parts.withLock { $0.popLast() } }
    }
}

/// A request of an engine.
public struct HTTPStorageRequest: Sendable {

    /// A method of HTTP.
    public enum Method: String, Sendable {
        /// Reads an item or the collection.
        case get = "GET"
        /// Reads the head of the response that `get` would have.
        case head = "HEAD"
        /// Creates or replaces an item.
        case put = "PUT"
        /// Removes an item.
        case delete = "DELETE"
        /// Lets the server process the body. Doing so twice may differ from doing so once.
        case post = "POST"
    }

    /// The method.
    public var method: Method
    /// The address.
    public var url: URL
    /// The values of the headers by their names. They may contain secrets.
    public var headers: [String: String]
    /// The body; `nil` if there is none.
    public var body: Data?
    /// The maximum number of bytes of the response's body, after decompression. It does not limit that of a
    /// stream.
    public var maximumResponseBytes: Int
    /// The time in which the server must have responded. A request that takes longer goes on while its body and that of
    /// the response are transferred, with no pause as long as this, and with at least 8 KiB a second of the time beyond
    /// it. In a stream, the head must have arrived by then, and after it each further byte within this time.
    public var timeLimit: Duration
    /// Whether sending the request twice has the same effect as sending it once, so that a transport may repeat it.
    /// Initially `true`, except for the method `post`.
    public var isIdempotent: Bool
    /// Called after about each 64 KiB of a body that were sent or received.
    package var onProgress: (@Sendable () -> Void)?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The address.
    ///   - headers: The values of the headers by their names.
    ///   - body: The body; `nil` if there is none.
    ///   - maximumResponseBytes: The maximum number of bytes of the response's body, after decompression.
    ///   - timeLimit: The time in which the server must have responded, see ``timeLimit``.
    public init(
        method: Method, url: URL, headers: [String: String] = [:], body: Data? = nil, maximumResponseBytes: Int,
        timeLimit: Duration
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.maximumResponseBytes, self.timeLimit) = (maximumResponseBytes, timeLimit)
        isIdempotent = method != .post
    }
}

/// A response to a request of an engine.
public struct HTTPStorageResponse: Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The body, decompressed.
    public var body: Data

    private var headers: [String: String]

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status, such as 200.
    ///   - headers: The values of the headers by their names. The values of a header that occurs several times are
    ///     joined with commas, in their order. Those of names that differ only in case are joined here, in the order of
    ///     the names.
    ///   - body: The body, decompressed.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.init(status: status, fields: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, body: body)
    }

    /// Creates a response with the fields of a head, in their order.
    ///
    /// Fields whose names differ only in case are one header, with all their values: RFC 9110, section 5.3.
    init(status: Int, fields: [(name: String, value: String)], body: Data = Data()) {
        (self.status, self.body) = (status, body)
        headers = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
    }

    /// Creates a response from its head.
    init(_ head: HTTPStorageResponse, body: Data) {
        self = head
        self.body = body
    }

    /// Returns the value of a header.
    ///
    /// - Parameter name: The name of the header, in any case.
    /// - Returns: The value, or the values joined with commas if the header occurs several times; `nil` if the response
    ///   lacks the header.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }
}
