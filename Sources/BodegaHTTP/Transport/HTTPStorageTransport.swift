public import Foundation

/// Sends the requests of an ``HTTPStorageEngine``. ``URLSessionTransport`` is the default.
///
/// A transport does not follow redirects, and it stores no responses, cookies or credentials. It sends a request again
/// only if a connection that it reused has ended before any byte of the response: the server was closing it. All
/// requests of an engine are idempotent.
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
}

/// A request of an ``HTTPStorageEngine``.
public struct HTTPStorageRequest: Sendable {

    /// A method of HTTP.
    public enum Method: String, Sendable {
        /// Reads an item or the collection.
        case get = "GET"
        /// Creates or replaces an item.
        case put = "PUT"
        /// Removes an item.
        case delete = "DELETE"
    }

    /// The method.
    public var method: Method
    /// The address.
    public var url: URL
    /// The values of the headers by their names. They may contain secrets.
    public var headers: [String: String]
    /// The body; `nil` if there is none.
    public var body: Data?
    /// The maximum number of bytes of the response's body, after decompression.
    public var maximumResponseBytes: Int
    /// The time within which the whole response must arrive.
    public var timeLimit: Duration

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The address.
    ///   - headers: The values of the headers by their names.
    ///   - body: The body; `nil` if there is none.
    ///   - maximumResponseBytes: The maximum number of bytes of the response's body, after decompression.
    ///   - timeLimit: The time within which the whole response must arrive.
    public init(
        method: Method, url: URL, headers: [String: String] = [:], body: Data? = nil, maximumResponseBytes: Int,
        timeLimit: Duration
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.maximumResponseBytes, self.timeLimit) = (maximumResponseBytes, timeLimit)
    }
}

/// A response to a request of an ``HTTPStorageEngine``.
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
