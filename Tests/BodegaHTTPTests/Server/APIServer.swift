import BodegaHTTP
import Foundation
import TestSupport

/// A server with a JSON API, in a process of its own: `server.py`. It ends when this object is deinitialized or this
/// process ends, even by a crash.
final class APIServer: Sendable {
    static let token = "t0ken/of+tests"

    /// The server that tests share which don't stop it.
    static let shared = Task { try await APIServer() }

    let port: Int
    private let process = Process()
    private let input = Pipe.separate()

    /// Starts a server.
    ///
    /// - Parameter port: The port; 0 is a free one.
    init(port: Int = 0) async throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("server.py")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", program.path, Self.token, "\(port)"]
        let output = Pipe.separate()
        process.standardOutput = output
        process.standardInput = input
        try process.start()
        try input.fileHandleForReading.close()
        let line = await blocking { output.fileHandleForReading.availableData }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let port = Int(text) else {
            throw Failure(description: "The server of the tests does not start: \(text)")
        }
        self.port = port
    }

    deinit {
        resume()
        do { try input.fileHandleForWriting.close() } catch {}
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Stops the server, so that its port refuses connections.
    func end() async throws {
        ProcessSignal.kill.send(to: process.processIdentifier)
        try await waitUntil("the server of the tests has ended") { !process.isRunning }
    }

    /// Pauses the process. The system still accepts connections for it.
    func pause() { ProcessSignal.stop.send(to: process.processIdentifier) }

    /// Resumes the process.
    func resume() { ProcessSignal.resume.send(to: process.processIdentifier) }

    func url(_ path: String, _ query: [String: String] = [:]) throws -> URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = ("http", "127.0.0.1", port)
        components.path = "/" + path
        if !query.isEmpty {
            components.queryItems = query.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        }
        // A plus sign is a space there.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        guard let url = components.url else { throw Failure(description: "\(path) is not part of an address.") }
        return url
    }

    /// A request that a server has received.
    struct Request: Codable {
        var method: String
        var path: String
        var headers: [String: String]
    }

    /// Sets a mark that addresses name, or removes it.
    func setMark(_ mark: String, _ isSet: Bool) async throws {
        let url = try url("\(isSet ? "mark" : "unmark")/\(mark)")
        _ = try await URLSessionTransport.shared.send(
            HTTPStorageRequest(method: .get, url: url, maximumResponseBytes: 1_024, timeLimit: .seconds(60)))
    }

    /// The requests that the server has received whose paths contain a text.
    func requests(containing text: String) async throws -> [Request] {
        let request = HTTPStorageRequest(
            method: .get, url: try url("requests", ["containing": text]), maximumResponseBytes: 64 << 20,
            timeLimit: .seconds(60))
        let response = try await URLSessionTransport.shared.send(request)
        return try JSONDecoder().decode([Request].self, from: response.body)
    }
}
