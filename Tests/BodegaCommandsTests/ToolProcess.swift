#if CommandLineTool
import Foundation
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A run of the built program to which tests send signals.
final class ToolProcess: @unchecked Sendable {
    // @unchecked because `Process` and `Pipe` are thread-safe in what is used of them.
    private let process = Process()
    private let output: URL
    private let errors: URL

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - input: Its standard input.
    ///   - folder: The folder for its output.
    ///   - environment: Variables that are added to the environment.
    init(
        _ arguments: [String], input: Pipe? = nil, in folder: URL, environment: [String: String] = [:]
    ) throws {
        output = folder.appendingPathComponent("output-\(UUID().uuidString)")
        errors = folder.appendingPathComponent("errors-\(UUID().uuidString)")
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = BinaryTests.program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let input { process.standardInput = input } else { process.standardInput = FileHandle.nullDevice }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.start()
    }

    /// Its standard output so far.
    var outputText: String { get throws { try String(contentsOf: output, encoding: .utf8) } }

    /// Its standard error so far.
    var errorText: String { get throws { try String(contentsOf: errors, encoding: .utf8) } }

    /// Sends it a signal.
    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    /// Waits until it ends.
    ///
    /// - Returns: Its exit status, as a shell reports it.
    func end() async throws -> Int32 {
        defer { if process.isRunning { send(SIGKILL) } }
        try await waitUntil("the program ended") { !process.isRunning }
        return process.terminationReason == .uncaughtSignal
            ? 128 + process.terminationStatus : process.terminationStatus
    }
}
#endif
