extension DiskFolder {

    /// When this thread's operation was requested, by `lockTimeout`'s clock; `nil` if it did not wait for a thread.
    @TaskLocal private static var requested: Duration?

    /// Carries out an operation that had to wait for a thread.
    ///
    /// 1. The engine records the time of the request and enqueues the operation.
    /// 2. The operation waits while an operation before it waits for a lock, and then begins on its thread.
    /// 3. If an operation times out, it stores the time in `lastTimeout`, which is guarded by its own lock.
    /// 4. The deadline of an operation that was requested before `lastTimeout` counts from its request.
    ///
    /// If the time of every operation started only in 2, the last of n operations would fail after n times the limit.
    ///
    /// - Parameters:
    ///   - requested: When the operation was requested, by the clock of `lockTimeout`.
    ///   - body: The operation.
    func carryOut<Result>(requestedAt requested: Duration, _ body: (DiskFolder) throws -> Result) throws -> Result {
        try Self.$requested.withValue(requested) {
            do {
                return try body(self)
            } catch let error as StorageError where error.code == .locked {
                lastTimeout.withLock { $0 = lockTimeout.now() }
                throw error
            }
        }
    }

    /// The deadline for the locks of an operation that begins now. Its wait for operations that timed out counts.
    func deadline() -> LockDeadline {
        guard let requested = Self.requested, requested < lastTimeout.withLock({ $0 }) else {
            return lockTimeout.deadline()
        }
        return lockTimeout.deadline(from: requested)
    }
}
