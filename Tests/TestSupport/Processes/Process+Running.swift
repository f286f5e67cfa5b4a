import Dispatch
package import Foundation

extension Process {
    /// Runs processes one at a time. If Foundation starts two concurrently, one can inherit the descriptor that signals
    /// the other's end, and the other then seems to run as long as the first.
    package func start() throws {
        try Self.starting.withLock { try run() }
    }

    private static let starting = NSLock()

    /// Reads a pipe to its end and waits for the process, on a thread that may block.
    package func output(_ pipe: Pipe) async -> Data {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = pipe.fileHandleForReading.readDataToEndOfFile()
                self.waitUntilExit()
                continuation.resume(returning: data)
            }
        }
    }
}
