import Foundation

/// A program that uses this library; its engines are profiled in its own process.
final class EngineProgram: @unchecked Sendable {
    // @unchecked because the lock guards all mutable state.
    private let lock = NSLock()
    private var process: Process?
    private var isStopped = false

    private let path: String
    private let url: URL

    /// Creates a program.
    ///
    /// - Parameter path: The path of the program.
    /// - Throws: A ``ProfilerError`` if the file is not executable.
    init(path: String) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ProfilerError(
                "\(path) is not a program. Build the program that calls Profiler.main(engine:open:), and give its path."
            )
        }
        self.path = path
        url = URL(fileURLWithPath: path)
    }

    /// Runs the program and reads its results. Its progress goes to standard error.
    ///
    /// - Parameters:
    ///   - arguments: The options for the measurements.
    ///   - folder: The folder for the file of its results.
    /// - Throws: A ``ProfilerError`` if the program fails.
    func run(_ arguments: [String], folder: URL) throws -> Profile {
        let results = folder.appendingPathComponent("\(UUID().uuidString).json")
        let process = Process()
        process.executableURL = url
        process.arguments = ["run", "--no-html", "--json", results.path] + arguments
        process.standardInput = FileHandle.nullDevice
        // The table of this process includes its results.
        process.standardOutput = FileHandle.nullDevice
        try lock.withLock {
            if isStopped { throw CancellationError() }
            do {
                try process.run()
            } catch {
                throw ProfilerError("\(path) can't be run: \(reason(error))")
            }
            self.process = process
        }
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let how = process.terminationReason == .exit ? "exit status" : "signal"
            throw ProfilerError("\(path) failed with \(how) \(process.terminationStatus).")
        }
        return try Profile(path: results.path)
    }

    /// Interrupts the program if it is running, and waits until it has cleaned up.
    func stop() {
        let running = lock.withLock {
            isStopped = true
            return process
        }
        guard let running, running.isRunning else { return }
        running.interrupt()
        running.waitUntilExit()
    }
}
