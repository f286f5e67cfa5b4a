import Foundation

/// A program that was made with this library, whose engines are profiled in a process of its own.
final class EngineProgram: @unchecked Sendable {
    // Unchecked because the lock guards all that changes.
    private let lock = NSLock()
    private var process: Process?
    private var isStopped = false

    private let path: String
    private let url: URL

    /// Finds a program.
    ///
    /// - Parameter path: Where the program is.
    /// - Throws: A ``ProfilerError`` if it can't be run.
    init(path: String) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ProfilerError(
                "\(path) is no program. Build the one that calls Profiler.main(engine:open:), and name it.")
        }
        self.path = path
        url = URL(fileURLWithPath: path)
    }

    /// Lets the program profile its engines, and reads what it found out. What it shows meanwhile goes to standard error.
    ///
    /// - Parameters:
    ///   - arguments: How it is to measure.
    ///   - folder: Where its results go until they are read.
    /// - Throws: A ``ProfilerError`` if it fails.
    func run(_ arguments: [String], folder: URL) throws -> Profile {
        let results = folder.appendingPathComponent("\(UUID().uuidString).json")
        let process = Process()
        process.executableURL = url
        process.arguments = ["run", "--no-html", "--json", results.path] + arguments
        process.standardInput = FileHandle.nullDevice
        // Its table is part of ours.
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
            let how = process.terminationReason == .exit ? "exit code" : "signal"
            throw ProfilerError("\(path) failed with \(how) \(process.terminationStatus).")
        }
        return try Profile(path: results.path)
    }

    /// Interrupts the program if it runs, and waits until it has cleaned up.
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
