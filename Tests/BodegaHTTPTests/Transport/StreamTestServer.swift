import BodegaHTTP
import Foundation

extension APIServer {

    /// The state of a stream at the server.
    struct Progress: Codable {
        /// The bytes of the body that the server has passed to its connection, before compression.
        var sent: Int
        /// Whether the client has closed the connection.
        var closed: Bool
    }

    func request(
        _ path: String, _ query: [String: String] = [:], method: HTTPStorageRequest.Method = .get,
        timeLimit: Duration = .seconds(60)
    ) throws -> HTTPStorageRequest {
        HTTPStorageRequest(
            method: method, url: try url(path, query), maximumResponseBytes: 1 << 20, timeLimit: timeLimit)
    }

    func progress(_ mark: String) async throws -> Progress {
        let response = try await URLSessionTransport.shared.send(request("progress", ["mark": mark]))
        return try JSONDecoder().decode(Progress.self, from: response.body)
    }

    /// Lets a stream go on by one step.
    func advance(_ mark: String) async throws {
        _ = try await URLSessionTransport.shared.send(request("gate", ["mark": mark]))
    }
}
