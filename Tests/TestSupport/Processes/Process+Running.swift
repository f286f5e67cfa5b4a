package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Process {
    /// Runs processes one at a time. If Foundation starts two concurrently, one can inherit the descriptor that signals
    /// the other's end, and the other then seems to run as long as the first.
    ///
    /// From then on, a write to a process that has ended throws an error. By default, it would end this process without
    /// a word.
    package func start() throws {
        Self.catchBrokenPipes
        try Self.starting.withLock { try run() }
    }

    fileprivate static let starting = NSLock()

    /// An empty handler, which the started programs do not inherit, as they would `SIG_IGN`.
    private static let catchBrokenPipes: Void = { _ = signal(SIGPIPE) { _ in } }()

    /// Reads a pipe to its end and waits for the process.
    package func output(_ pipe: Pipe) async -> Data {
        await blocking {
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            self.waitUntilExit()
            return data
        }
    }
}

extension Pipe {
    /// Creates a pipe while no process is started, which would inherit its ends: their reader would wait for that
    /// process, too.
    package static func separate() -> Pipe { Process.starting.withLock { Pipe() } }
}
