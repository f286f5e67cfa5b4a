public import Foundation

/// Sends the requests of an ``HTTPStorageEngine``. ``URLSessionTransport`` is the default.
///
/// A transport neither follows redirects nor retries, and it stores no responses, cookies or credentials.
public protocol HTTPStorageTransport: Sendable {

    /// Sends a request and receives the whole response.
    ///
    /// When the task is cancelled, the method throws soon afterwards. The server may still receive the request.
    ///
    /// - Parameter request: The request, with its limits.
    /// - Returns: The response, whatever its status.
    /// - Throws: A `StorageError`: `timedOut` after the time limit of the request, `tooLarge` as soon as the body exceeds
    ///   its limit, `unreachable` if the server can't be reached or the connection is lost. Its message and its cause contain
    ///   no headers. `CancellationError` after a cancellation.
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
    ///   - headers: The values of the headers by their names. Of names that differ only in case, one counts. The values of a
    ///     header that occurs several times are joined with commas.
    ///   - body: The body, decompressed.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { $1 }
        self.body = body
    }

    /// Returns the value of a header.
    ///
    /// - Parameter name: The name of the header, in any case.
    /// - Returns: The value; `nil` if the response lacks the header.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }
}
