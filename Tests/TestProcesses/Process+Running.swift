import Dispatch
package import Foundation

extension Process {
    /// Runs it, one at a time: of two that Foundation starts at once, one can inherit what tells that the other has ended, and
    /// that other then seems to run as long as it does.
    package func start() throws {
        try Self.starting.withLock { try run() }
    }

    private static let starting = NSLock()

    /// Reads a pipe to its end and waits for the process, on a thread that may wait: others have to get on meanwhile.
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
