/// Work that blocks, and whose result serves all callers that ask for it while it runs, so that it takes one thread.
///
/// `waiting` is guarded by its lock.
final class SharedWork<Value: Sendable>: Sendable {

    /// The callers that wait for the result; `nil` if the work does not run.
    private let waiting = Locked<[CheckedContinuation<Value, any Error>]?>(nil)

    /// Runs a closure on one of the ``WorkerThreads``, unless one runs already, and returns its result.
    func value(of work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let mustRun = waiting.withLock { waiting in
                defer { waiting = (waiting ?? []) + [continuation] }
                return waiting == nil
            }
            if mustRun { run(work) }
        }
    }

    private func run(_ work: @escaping @Sendable () throws -> Value) {
        WorkerThreads.shared.run { [waiting] in
            let result = Result { try work() }
            let callers = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting ?? []
            }
            for caller in callers { caller.resume(with: result) }
        }
    }
}
