import AsyncHTTPClient
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A process of the example with an HTTP client.
struct RunningServer {
    private let process: ServerProcess

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - home: The folder for its log and its data.
    ///   - prelude: Commands of a shell that come before the program.
    init(in home: URL, after prelude: String = "") async throws {
        process = try await ServerProcess(
            URL(fileURLWithPath: "/bin/bash"),
            [
                "-c", prelude + "\nexec \"$0\" \"$@\"",
                try Example.products().appendingPathComponent("NotesServer").path,
                Self.data(in: home).path, "--port", "0",
            ],
            addressEndingWith: "/\n", log: home.appendingPathComponent("log"))
    }

    static func data(in home: URL) -> URL { home.appendingPathComponent("data") }

    var port: Int {
        get throws { try #require(Int(process.address.split(separator: ":")[2])) }
    }

    func send(_ signal: Int32) { process.send(signal) }

    /// Sends a signal and waits for the program to exit.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the program.
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 { try await process.stop(signal) }

    #if os(Linux)
    /// The resident memory, in bytes.
    var memory: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
            let kibibytes = try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/)).1
            return try #require(Int(kibibytes)) * 1024
        }
    }

    /// The number of open files of a kind.
    ///
    /// - Parameter kind: The beginning of their names, such as `socket:`.
    func openFiles(_ kind: String) throws -> Int {
        let folder = "/proc/\(process.identifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            var target = [CChar](repeating: 0, count: 1024)
            // A file that was closed in the meantime has no name.
            let length = readlink(folder + "/" + name, &target, target.count)
            return length > 0
                && String(decoding: target.map(UInt8.init(bitPattern:)).prefix(length), as: UTF8.self).hasPrefix(kind)
        }
    }
    #endif

    /// Opens a connection.
    func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }

    /// Sends a request.
    ///
    /// - Returns: The status, a comma, and the body with its members in alphabetical order.
    @discardableResult
    func request(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> String {
        var request = HTTPClientRequest(url: process.address + path)
        request.method = method
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await http.execute(request, timeout: .seconds(180))
        var text = String(buffer: try await response.body.collect(upTo: 1_000_000))
        if let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) {
            text = String(
                decoding: try JSONSerialization.data(
                    withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]), as: UTF8.self)
        }
        return text.isEmpty ? "\(response.status.code)" : "\(response.status.code), \(text)"
    }

    /// Opens a stream of events.
    ///
    /// - Parameter last: The identifier of the last event that the client knows.
    func events(after last: String? = nil) async throws -> Events {
        var request = HTTPClientRequest(url: process.address + "/events")
        if let last { request.headers.add(name: "Last-Event-ID", value: last) }
        let response = try await http.execute(request, timeout: .seconds(180))
        #expect(response.headers.first(name: "Content-Type") == "text/event-stream")
        var events = Events(response.body.makeAsyncIterator())
        // Later changes are events.
        try await events.wait(for: "id: ")
        return events
    }
}

/// The notes in a file, read by the SQLite of Python.
func storedNotes(in home: URL) async throws -> [String: [String: any Sendable]] {
    let script = """
        import json, sqlite3, sys
        file = sqlite3.connect(sys.argv[1])
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        print(json.dumps({key: json.loads(value) for key, value in file.execute("SELECT key, value FROM data")}))
        """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, RunningServer.data(in: home).path + "/data.sqlite3"]
    let output = Pipe()
    process.standardOutput = output
    try process.start()
    let bytes = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile())
        }
    }
    return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: [String: any Sendable]])
}

/// The text that a connection receives.
struct ReceivedText {
    private var chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private(set) var text = ""

    init(_ chunks: NIOAsyncChannelInboundStream<ByteBuffer>) { self.chunks = chunks.makeAsyncIterator() }

    mutating func wait(for wanted: String) async throws {
        while !text.contains(wanted) {
            text += String(buffer: try #require(try await chunks.next(), "The connection ended: \(text)"))
        }
    }

    mutating func waitForEnd() async throws {
        while let chunk = try await chunks.next() { text += String(buffer: chunk) }
    }
}
