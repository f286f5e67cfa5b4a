extension DiskFolder {

    /// When the operation that this thread carries out was asked for, by the clock of `lockTimeout`; `nil` if it did not
    /// have to wait for a thread.
    @TaskLocal private static var asked: Duration?

    /// Carries out an operation that had to wait for a thread.
    ///
    /// Operations wait behind one that waits for a lock. If they all began to wait only after it, the last of them would
    /// get its error after as many times the limit.
    ///
    /// - Parameters:
    ///   - asked: When it was asked for, by the clock of `lockTimeout`.
    ///   - body: The operation.
    func carryOut<Result>(askedAt asked: Duration, _ body: (DiskFolder) throws -> Result) throws -> Result {
        try Self.$asked.withValue(asked) {
            do {
                return try body(self)
            } catch let error as StorageError where error.code == .locked {
                lastTimeout.withLock { $0 = lockTimeout.now() }
                throw error
            }
        }
    }

    /// Until when an operation that begins now waits for locks. What it has waited behind others that waited in vain
    /// counts.
    func deadline() -> LockDeadline {
        guard let asked = Self.asked, asked < lastTimeout.withLock({ $0 }) else { return lockTimeout.deadline() }
        return lockTimeout.deadline(from: asked)
    }
}
