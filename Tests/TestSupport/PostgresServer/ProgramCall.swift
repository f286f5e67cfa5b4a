import Dispatch
package import Foundation

/// A program that runs to its end.
package struct ProgramCall: Sendable {
    var program: URL
    var arguments: [String]
    var environment: [String: String]
    var folder: URL?

    /// The result of a program.
    package struct Result: Sendable {
        var command: String
        package var status: Int32
        package var text: String
        package var errors: String

        /// The result, if the program succeeded.
        ///
        /// - Throws: A ``PostgresServerError`` with its output if it failed.
        package func checked() throws -> Result {
            if status == 0 { return self }
            throw PostgresServerError("\(command) ended with status \(status): \(errors)\(text)")
        }
    }

    /// Describes a program and its arguments.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - arguments: The arguments.
    ///   - environment: Additions to this process's environment. The variables of PostgreSQL's clients are removed from
    ///     the latter, because they could refer to another server.
    ///   - folder: The working directory.
    package init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil) {
        self.program = program
        self.arguments = arguments
        self.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
            .merging(environment) { $1 }
        self.folder = folder
    }

    /// Runs the program and waits on another thread.
    package func run(input: String? = nil) async throws -> Result {
        try await blocking { try runBlocking(input: input) }
    }

    /// Runs the program and blocks this thread until it ends.
    func runBlocking(input: String? = nil) throws -> Result {
        let process = makeProcess()
        let (output, errors) = (Pipe.separate(), Pipe.separate())
        let feed = Pipe.separate()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = input == nil ? FileHandle.nullDevice : feed
        try process.start()
        // All three pipes concurrently, so that the program never blocks on one of them.
        let complaints = Collected()
        let group = DispatchGroup()
        group.block {
            complaints.data = errors.fileHandleForReading.readDataToEndOfFile()
        }
        if let input {
            group.block {
                // A program that ends early does not read all input. Its exit status reports that.
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

    /// The bytes that another thread has read. @unchecked because they are accessed after that thread has finished.
    private final class Collected: @unchecked Sendable {
        var data = Data()
    }
}
