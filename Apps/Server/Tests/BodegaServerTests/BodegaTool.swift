import Browsing
import Foundation
import Testing

/// The tool `bodega`, in processes of its own with a temporary folder, which is removed with this object.
final class BodegaTool: Sendable {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The build puts the tool into the same folder as the tests.
    static var executable: URL {
        get throws {
            let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
            let folders =
                [bundle?.deletingLastPathComponent()].compactMap(\.self)
                + CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
            let tools = folders.map { $0.appendingPathComponent("bodega") }
            return try #require(tools.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    /// What a process has printed, and how it has ended.
    struct Outcome: Equatable {
        var status: Int32
        var output: Data
        var errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A process that is not started yet.
    func process(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Process {
        let process = Process()
        process.executableURL = try Self.executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment
            .merging(["no_proxy": "*", "TMPDIR": folder.path].merging(environment) { $1 }) { $1 }
        return process
    }

    /// Runs a command to its end.
    func run(
        _ arguments: [String], input: Data = Data(), _ environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = try process(arguments, environment)
        let (output, files) = (Pipe(), [path(UUID().uuidString), path(UUID().uuidString)])
        try input.write(to: URL(fileURLWithPath: files[0]))
        try Data().write(to: URL(fileURLWithPath: files[1]))
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: files[0]))
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
        try process.start()
        // On a thread that may block, because other tests need the cooperative pool.
        let bytes = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: bytes)
            }
        }
        return Outcome(
            status: process.terminationStatus, output: bytes,
            errors: try String(contentsOf: URL(fileURLWithPath: files[1]), encoding: .utf8))
    }

    /// Serves a store, on a free port unless one is given.
    func serve(_ arguments: [String], port: Int = 0) async throws -> ServerProcess {
        try await ServerProcess(
            try Self.executable, ["serve"] + arguments + ["--port", "\(port)"], addressEndingWith: "\n",
            log: folder.appendingPathComponent("log"))
    }

    /// Serves a store without tokens, by a command of a shell in which `"$@"` stands for the tool.
    func serve(_ store: String, by command: String, addressEndingWith ending: String = "\n") async throws
        -> ServerProcess
    {
        let tool = [try Self.executable.path, "serve", store, "--without-tokens", "--port", "0"]
        return try await ServerProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", command, "sh"] + tool, addressEndingWith: ending,
            log: folder.appendingPathComponent("log"))
    }
}
