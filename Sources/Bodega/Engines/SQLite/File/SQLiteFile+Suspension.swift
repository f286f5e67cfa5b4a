import Foundation
import GRDB
import Logging

/// 1. A suspension takes the connections, so that later operations fail, and lets writes fail that wait for a commit.
/// 2. It waits until no reader is inside of the gate, and closes the connections, which waits for the one that writes.
///    In the meantime, ``LockHolders`` interrupts their statements.
/// 3. The next operation after the suspension opens the file again, if it is still in its place.
extension SQLiteFile: SuspendableFile {

    func suspend() {
        do {
            switch beginClosing() {
            case nil: break
            case .reader(let reader)?: try mapped(reader.release)
            case .pool(let pool, let commits)?:
                commits.end()
                try mapped {
                    try readers.whileEmpty {
                        defer {
                            starts.noteClosing()
                            // Also after an error: the connections close when they are released.
                            noteSuspended(at: pool.place)
                        }
                        try pool.close(keepingLog: true)
                    }
                }
            }
        } catch {
            bodegaLogger.error(
                "A file could not be closed, so the suspension is delayed.",
                metadata: ["file": "\(url.path)", "error": "\(error)"])
        }
    }

    func resume() {
        guard wasSuspended, watch.hasFollowers else { return }
        // Opening may take long.
        later { [weak self] in self?.watch.check(reopening: true) }
    }
}
