import Bodega
package import Foundation

/// A child process that runs a task of `TestChild`, or another program of the tests. It is killed with its last
/// reference, so that a test that fails leaves none.
package final class Child: @unchecked Sendable {
    // @unchecked because the methods used here of `Process` and `Pipe` are thread-safe.
    private let process = Process()
    private let output = Pipe.separate()
    private let unread = Locked(Data())

    package convenience init(
        _ arguments: String...,
        program: String = "TestChild",
        environment: [String: String] = [:]
    ) throws {
        try self.init(arguments, program: program, environment: environment)
    }

    /// Starts the process.
    ///
    /// - Parameter input: The standard input; by default this process's.
    package init(
        _ arguments: [String],
        program: String = "TestChild",
        environment: [String: String] = [:],
        input: Pipe? = nil
    ) throws {
        process.executableURL = Self.url(of: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        if let input { process.standardInput = input }
        try process.start()
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// The identifier of the process.
    package var processIdentifier: Int32 { process.processIdentifier }

    /// The next line of the process's output, or `nil` at the end.
    package func nextLine() async -> String? {
        await blocking { self.unread.withLock(self.takeLine) }
    }

    private func takeLine(_ unread: inout Data) -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }

    /// All lines of the process's output until it ends.
    package func lines() async -> [String] {
        var lines: [String] = []
        while let line = await nextLine() { lines.append(line) }
        await blocking { self.process.waitUntilExit() }
        return lines
    }

    /// Kills the process.
    package func kill() {
        send(SIGKILL)
    }

    /// Sends the process a signal.
    package func send(_ signal: Int32) {
        Foundation.kill(process.processIdentifier, signal)
    }

    private static func url(of name: String) -> URL {
        // The test bundle and the program are in the same build folder.
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folder = (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent()
        for folder in [
            folder, Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ] {
            let program = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        }
        fatalError("\(name) is missing in the folder of the tests, \(folder.path)")
    }
}
