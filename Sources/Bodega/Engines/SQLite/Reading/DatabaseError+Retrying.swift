import Dispatch
import Foundation
import GRDB
import Logging

extension DatabaseError {

    /// Repeats an operation that fails because another program holds a lock, until it succeeds or the time is over.
    static func retryingWhileLocked<Value>(
        _ path: String,
        for lockTimeout: TimeInterval,
        _ body: () throws -> Value
    ) throws -> Value {
        let deadline = DispatchTime.now() + lockTimeout
        var pause: TimeInterval = 0.001
        while true {
            do {
                return try body()
            } catch let error as DatabaseError where error.isOfLock && DispatchTime.now() < deadline {
                try LockHolders.shared.check()
                bodegaLogger.debug("The database is locked. Retrying…", metadata: ["file": "\(path)"])
                WorkerThreads.waiting { LockHolders.shared.pause(pause) }
                pause = min(pause * 2, 0.1)
            }
        }
    }
}
