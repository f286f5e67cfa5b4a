@testable import BodegaHTTP

/// The clients of the transport, of which a platform or a program has one.
enum HTTPClientKind: String, CaseIterable, Sendable {
    #if canImport(Glibc)
    case libcurl
    #endif
    case urlSession

    /// Whether a transfer waits for its reader. That of `URLSession` does on Apple platforms only.
    var pauses: Bool {
        #if canImport(FoundationNetworking)
        self != .urlSession
        #else
        true
        #endif
    }

    func transport(maximumConnections: Int = 8) throws -> URLSessionTransport {
        func client(_ maximumConnections: Int?) throws -> any HTTPClient {
            switch self {
            #if canImport(Glibc)
            case .libcurl:
                guard let client = CurlClient(maximumConnections: maximumConnections) else {
                    throw APIServer.Failure(description: "The tests need libcurl.")
                }
                return client
            #endif
            case .urlSession: return URLSessionClient(maximumConnections: maximumConnections)
            }
        }
        return URLSessionTransport(client: try client(maximumConnections), streams: try client(nil))
    }
}
