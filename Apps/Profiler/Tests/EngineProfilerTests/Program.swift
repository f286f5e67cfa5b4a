import Foundation

/// A program of this package, run as a process.
struct Program {

    /// The outcome of a run.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    /// The empty folder in which programs run.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("profiler-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes the folder.
    func remove() throws { try FileManager.default.removeItem(at: folder) }

    /// The path of a program. The build puts the programs into the same folder as the test bundle.
    static func url(of name: String) -> URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folders = [
            (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent(), Bundle.main.bundleURL,
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        return folders.map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? folders[0].appendingPathComponent(name)
    }

    /// Creates a process without starting it.
    func process(_ name: String, _ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = Self.url(of: name)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Runs a program until it exits.
    func run(_ name: String, _ arguments: String...) async throws -> Outcome {
        let process = process(name, arguments)
        // Files instead of pipes, because pipes are not read while the program runs.
        let id = UUID().uuidString
        let outputs = ["out", "err"].map {
            FileManager.default.temporaryDirectory.appendingPathComponent("\(id).\($0)")
        }
        for url in outputs { try Data().write(to: url) }
        process.standardOutput = try FileHandle(forWritingTo: outputs[0])
        process.standardError = try FileHandle(forWritingTo: outputs[1])
        try process.start()
        await Self.end(of: process)
        let texts = try outputs.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        for url in outputs { try FileManager.default.removeItem(at: url) }
        return Outcome(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }

    /// Runs a program until it exits, and ignores its output.
    func status(_ name: String, _ arguments: [String]) async throws -> Int32 {
        let process = process(name, arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        await Self.end(of: process)
        return process.terminationStatus
    }

    /// Waits until a process has exited.
    static func end(of process: Process) async {
        await blocking { process.waitUntilExit() }
    }

    /// The sorted names of the files in the folder.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

/// Waits on a thread of its own. On Linux, libdispatch's threads are those of the cooperative pool.
func blocking<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
    }
}
