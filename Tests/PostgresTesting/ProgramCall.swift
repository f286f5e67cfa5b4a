import Dispatch
package import Foundation
import TestProcesses

/// A program that runs to its end.
package struct ProgramCall: Sendable {
    var program: URL
    var arguments: [String]
    var environment: [String: String]
    var folder: URL?

    /// What a program left.
    package struct Result: Sendable {
        var command: String
        package var status: Int32
        package var text: String
        package var errors: String

        /// The result, if the program succeeded.
        ///
        /// - Throws: A ``PostgresServerError`` with what it said if it did not.
        package func checked() throws -> Result {
            if status == 0 { return self }
            throw PostgresServerError("\(command) ended with status \(status): \(errors)\(text)")
        }
    }

    /// Describes a program and its arguments.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - arguments: What it is told.
    ///   - environment: What it finds in its environment besides that of this process, of which the variables of
    ///     PostgreSQL's clients are left out, because they would lead to another server.
    ///   - folder: Where it runs.
    package init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil) {
        self.program = program
        self.arguments = arguments
        self.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
            .merging(environment) { $1 }
        self.folder = folder
    }

    /// Runs it and waits on a thread that may wait.
    package func run(input: String? = nil) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Swift.Result { try runBlocking(input: input) })
            }
        }
    }

    /// Runs it and waits on this thread.
    func runBlocking(input: String? = nil) throws -> Result {
        let process = makeProcess()
        let (output, errors) = (Pipe(), Pipe())
        let feed = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = input == nil ? FileHandle.nullDevice : feed
        try process.start()
        // All three at once, so that the program never waits for a pipe that nobody empties or fills.
        let complaints = Collected()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            complaints.data = errors.fileHandleForReading.readDataToEndOfFile()
        }
        if let input {
            DispatchQueue.global().async(group: group) {
                // A program that ends early does not read everything; its status tells.
                do { try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8)) } catch {}
                do { try feed.fileHandleForWriting.close() } catch {}
            }
        }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        group.wait()
        process.waitUntilExit()
        return Result(
            command: program.lastPathComponent,
            status: process.terminationStatus,
            text: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints.data, as: UTF8.self)
        )
    }

    package func makeProcess() -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = folder
        return process
    }

    /// What another thread has read. @unchecked because it is read after that thread is done.
    private final class Collected: @unchecked Sendable {
        var data = Data()
    }
}
