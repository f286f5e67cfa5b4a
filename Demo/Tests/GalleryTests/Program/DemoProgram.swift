import Bodega
import Foundation

@testable import Gallery

/// The program as users run it, in a process and a folder of its own.
final class DemoProgram: @unchecked Sendable {
    // @unchecked because the used members of `Process` are thread-safe.
    private let process: Process

    /// The address, such as `http://127.0.0.1:40123`.
    let address: String
    /// The output up to the line with the address.
    let announcement: String

    private let end: AsyncStream<Int32>
    private let log: URL

    /// The reason why the program does not run.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts the program and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: The folder of the program's data, which survives restarts.
    ///   - port: The port to listen on; any port by default.
    ///   - seed: The seed of the pictures.
    ///   - options: Further options.
    init(in folder: Folder, port: Int = 0, seed: UInt64 = 11, _ options: String...) async throws {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments =
            ["--data", folder.directory("data").url.path, "--port", "\(port)", "--seed", "\(seed)"]
            // Notices stay until the test has seen them, however slow the machine is.
            + ["--notice-seconds", "1000000"] + options
        // The preferences are in the user's folders, which must be the test's own.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["HOME": folder.url.path, "XDG_DATA_HOME": folder.directory("share").url.path]
        ) { $1 }
        let output = Pipe()
        log = folder.url.appendingPathComponent("log")
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let logFile = try FileHandle(forWritingTo: log)
        try logFile.seekToEnd()
        process.standardOutput = output
        process.standardError = logFile
        let (end, ending) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.start()
        self.process = process
        self.end = end
        announcement = await Self.announcement(output.fileHandleForReading)
        guard let start = announcement.range(of: "http://"),
            let stop = announcement[start.lowerBound...].range(of: "/ ")
        else {
            process.terminate()
            throw Failure(description: "The program is not listening: \(announcement) \(Self.text(log))")
        }
        address = String(announcement[start.lowerBound..<stop.lowerBound])
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Sends a signal and waits for the program to exit.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the program.
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        kill(process.processIdentifier, signal)
        let end = end
        let status = try await withDeadline(.seconds(180)) { await end.first { _ in true } }
        guard let status else { throw Failure(description: "The program had already exited.") }
        return status
    }

    /// The log of all programs that have used this folder.
    var logged: String { Self.text(log) }

    private static func text(_ log: URL) -> String {
        (try? String(contentsOf: log, encoding: .utf8)) ?? "There is no log."
    }

    /// The output of the program up to its address, or up to its end.
    private static func announcement(_ output: FileHandle) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                while !text.contains("/ —"), case let more = nextBytes(of: output), !more.isEmpty {
                    text += String(decoding: more, as: UTF8.self)
                }
                continuation.resume(returning: text)
            }
        }
    }

    /// The build puts the program into the same folder as the tests.
    static func executable() throws -> URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        let folders = [bundle?.deletingLastPathComponent(), Bundle.main.bundleURL].compactMap(\.self) + arguments
        for folder in folders {
            let program = folder.appendingPathComponent("gallery-demo")
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        }
        throw Failure(description: "gallery-demo is not beside the tests, in \(folders.map(\.path)).")
    }
}
