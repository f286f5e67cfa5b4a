import Bodega
import Browsing
import Foundation

/// One of the programs as users run it, in a process and a folder of its own.
struct DemoProgram: Sendable {
    private let process: ServerProcess

    /// Starts the program and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: The folder of the program's data, which survives restarts.
    ///   - sync: Whether it is the program with two galleries that synchronize.
    ///   - port: The port to listen on; any port by default.
    ///   - seed: The seed of the pictures.
    ///   - environment: Additions to the environment of the tests.
    ///   - options: Further options.
    init(
        in folder: Folder,
        sync: Bool = false,
        port: Int = 0,
        seed: UInt64 = 11,
        environment: [String: String] = [:],
        _ options: String...
    ) async throws {
        process = try await ServerProcess(
            Self.executable(sync ? "gallery-sync-demo" : "gallery-demo"),
            ["--data", folder.directory("data").url.path, "--port", "\(port)", "--seed", "\(seed)"]
                // Notices stay until the test has seen them, however slow the machine is.
                + ["--notice-seconds", "1000000"] + options,
            // The preferences are in the user's folders, which must be the test's own.
            environment: ProcessInfo.processInfo.environment
                .merging(["HOME": folder.url.path, "XDG_DATA_HOME": folder.directory("share").url.path]) { $1 }
                .merging(environment) { $1 },
            addressEndingWith: "/ —",
            log: folder.url.appendingPathComponent("log")
        )
    }

    /// The address, such as `http://127.0.0.1:40123`.
    var address: String { process.address }

    /// The output up to the line with the address.
    var announcement: String { process.announcement }

    /// The log of all programs that have used this folder.
    var logged: String { process.logged }

    /// Sends a signal and waits for the program to exit.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the program.
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        try await process.stop(signal)
    }

    /// The build puts the programs into the same folder as the tests.
    static func executable(_ name: String) throws -> URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        let folders = [bundle?.deletingLastPathComponent(), Bundle.main.bundleURL].compactMap(\.self) + arguments
        for folder in folders {
            let program = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        }
        throw ServerProcess.Failure(description: "\(name) is not beside the tests, in \(folders.map(\.path)).")
    }
}
