import Bodega
import BodegaRemote
import Browsing
import Foundation

/// What the proxies do depends on it.
let proxySeed = ProcessInfo.processInfo.environment["EMPORIUM_SEED"] ?? "\(UInt64.random(in: 0..<1_000_000))"

extension RemoteStorageOptions {
    /// Options of a client that goes on however often the proxy gets in its way.
    static var patient: RemoteStorageOptions {
        var options = RemoteStorageOptions()
        (options.retryPolicy.maximumAttempts, options.retryPolicy.timeLimit) = (100, .seconds(300))
        (options.retryPolicy.baseDelay, options.retryPolicy.maximumDelay) = (.milliseconds(1), .milliseconds(20))
        return options
    }
}

/// A proxy before a server of this machine that delays, loses, doubles and cuts what passes through it, in a process of
/// its own: `proxy.py`. It ends when this object is released.
final class FaultyProxy: Sendable {
    let url: URL
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(before server: TestServer, seed: String) async throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("proxy.py")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", program.path, "\(server.port)", seed]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.start()
        try input.fileHandleForReading.close()
        let line = await Self.onThread { [output] in output.fileHandleForReading.availableData }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let url = URL(string: "http://127.0.0.1:\(text)"), url.port != nil else {
            throw Failure(description: "The proxy of the tests does not start: \(text)")
        }
        self.url = url
    }

    deinit { do { try input.fileHandleForWriting.close() } catch {} }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Ends the proxy.
    ///
    /// - Returns: How many requests it has passed on, lost and so on.
    func end() async throws -> [String: Int] {
        try input.fileHandleForWriting.close()
        let data = await Self.onThread { [output] in output.fileHandleForReading.readDataToEndOfFile() }
        return try JSONDecoder().decode([String: Int].self, from: data)
    }

    /// Waits on a thread that may block, because other tests need the cooperative pool.
    private static func onThread(_ body: @escaping @Sendable () -> Data) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
