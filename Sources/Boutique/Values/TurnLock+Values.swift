import Bodega

extension TurnLock {

    /// Runs a closure while no other thread of this process does, for a resource that is not a file. If this thread
    /// holds the lock already, the closure runs immediately.
    ///
    /// - Throws: `StorageError.Code.locked` after the timeout; errors of the closure.
    func take<Result>(_ timeout: LockTimeout, _ subject: String, _ body: () throws -> Result) throws -> Result {
        let result: Swift.Result<Result, any Error>
        do {
            result = try withLock(timeout.deadline(), subject) { Swift.Result(catching: body) }
        } catch let error as StorageError where error.code == .locked {
            throw StorageError(
                .locked,
                """
                Another thread was changing \(subject) and did not finish in time, so nothing was changed. Try again \
                later. If the error persists, two threads are probably deadlocked: make their nested changes in the \
                same order.
                """
            )
        }
        return try result.get()
    }
}
