import Browsing
import Foundation
import Testing

/// The examples as programs.
enum Example {

    /// A process of an example and its output, with that of errors.
    static func process(
        _ name: String, _ arguments: [String], in home: URL
    ) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = try products().appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["HOME": home.path, "XDG_DATA_HOME": home.path, "CFFIXED_USER_HOME": home.path]
        ) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        return (process, output)
    }

    /// Runs an example and returns its exit status and its output, with that of errors.
    static func run(_ name: String, _ arguments: String..., in home: URL) async throws -> (
        status: Int32, lines: [String]
    ) {
        let (process, output) = try process(name, arguments, in: home)
        return try await run(process, output)
    }

    /// Runs a process to its end, see ``process(_:_:in:)``.
    static func run(_ process: Process, _ output: Pipe) async throws -> (status: Int32, lines: [String]) {
        try process.start()
        // On a thread that may block, because other tests need the cooperative pool.
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        return (process.terminationStatus, text.split(separator: "\n").map(String.init))
    }

    /// The build puts the examples into the same folder as the tests.
    static func products() throws -> URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folders =
            [bundle?.deletingLastPathComponent()].compactMap(\.self)
            + CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        return try #require(
            folders.first {
                FileManager.default.isExecutableFile(atPath: $0.appendingPathComponent("Notes").path)
            })
    }

    static func withHome(_ body: (URL) async throws -> Void) async throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        do { try await body(home) } catch {
            try FileManager.default.removeItem(at: home)
            throw error
        }
        try FileManager.default.removeItem(at: home)
    }
}

func == (first: (status: Int32, lines: [String]), second: (Int32, [String])) -> Bool {
    first.status == second.0 && first.lines == second.1
}
