import Foundation

/// The end of a program: its status and its output, with that for errors.
struct ProgramRun {
    let status: Int32
    let output: String

    /// Runs a program to its end.
    init(_ program: String, _ arguments: [String], input: String = "") async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["no_proxy": "*"]) { $1 }
        let (output, given) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = output
        process.standardInput = given
        try process.run()
        try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try given.fileHandleForWriting.close()
        // On a thread that may block, because other tests need the cooperative pool.
        self.output = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        status = process.terminationStatus
    }
}
