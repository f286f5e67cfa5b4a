import Bodega

extension TurnLock {

    /// Runs a closure while no other thread does, for what is not a file.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for other threads.
    ///   - subject: What they change, for the error.
    ///   - body: Runs immediately if this thread has the turn already.
    /// - Throws: `StorageError.Code.locked` if the others take too long; what the closure throws.
    func take<Result>(_ timeout: LockTimeout, _ subject: String, _ body: () throws -> Result) throws -> Result {
        let result: Swift.Result<Result, any Error>
        do {
            result = try withLock(timeout.deadline(), subject) { Swift.Result(catching: body) }
        } catch let error as StorageError where error.code == .locked {
            throw StorageError(
                .locked,
                """
                Another thread changes \(subject) and did not finish in time, so nothing was changed. Try again later. If it \
                never finishes, two threads probably wait for each other: make their nested changes in the same order.
                """
            )
        }
        return try result.get()
    }
}
