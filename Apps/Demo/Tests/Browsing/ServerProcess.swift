package import Foundation
import Gallery

/// A program that prints the address at which it listens, in a process of its own.
package final class ServerProcess: @unchecked Sendable {
    // @unchecked because the used members of `Process` are thread-safe.
    private let process: Process
    private let end: AsyncStream<Int32>
    private let log: URL

    /// The address, such as `http://127.0.0.1:40123`.
    package let address: String
    /// The output up to the address.
    package let announcement: String

    /// The reason why the program does not run.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Starts a program and waits until it listens.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment.
    ///   - ending: The text that follows the address in the output.
    ///   - log: The file for the program's errors, which are appended.
    package init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        addressEndingWith ending: String,
        log: URL
    ) async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        let output = Pipe()
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let logFile = try FileHandle(forWritingTo: log)
        try logFile.seekToEnd()
        process.standardOutput = output
        process.standardError = logFile
        let (end, exits) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            exits.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            exits.finish()
        }
        try process.start()
        self.process = process
        self.end = end
        self.log = log
        announcement = await Self.text(of: output.fileHandleForReading, to: ending)
        guard let start = announcement.range(of: "https?://", options: .regularExpression),
            let stop = announcement[start.lowerBound...].range(of: ending)
        else {
            process.terminate()
            throw Failure(description: "The program is not listening: \(announcement) \(Self.text(log))")
        }
        address = String(announcement[start.lowerBound..<stop.lowerBound])
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    package var identifier: Int32 { process.processIdentifier }

    /// Sends a signal.
    package func send(_ signal: Int32) { kill(identifier, signal) }

    /// Sends a signal and waits for the program to exit.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the program.
    package func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        send(signal)
        let end = end
        let status = try await withDeadline(.seconds(180)) { await end.first { _ in true } }
        guard let status else { throw Failure(description: "The program had already exited.") }
        return status
    }

    /// The contents of the log.
    package var logged: String { Self.text(log) }

    private static func text(_ log: URL) -> String {
        (try? String(contentsOf: log, encoding: .utf8)) ?? "There is no log."
    }

    /// The output of a program up to a text, or up to its end.
    private static func text(of output: FileHandle, to ending: String) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                while !text.contains(ending), case let more = nextBytes(of: output), !more.isEmpty {
                    text += String(decoding: more, as: UTF8.self)
                }
                continuation.resume(returning: text)
            }
        }
    }
}
