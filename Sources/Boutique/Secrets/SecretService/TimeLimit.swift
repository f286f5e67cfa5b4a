#if SecretService
import Bodega
import Dispatch
import Foundation

/// The time limit of a call of a secret service.
enum TimeLimit {

    /// Runs a closure on a thread of its own, and waits for it for a time.
    ///
    /// A thread, because connecting to a stopped bus has no time limit. It ends soon after the limit: the cancellation
    /// ends all of its calls.
    ///
    /// - Parameters:
    ///   - limit: The time.
    ///   - body: A closure whose calls end when its argument is cancelled.
    /// - Throws: A ``KeychainError``: `timedOut` after the limit, or that of the closure's error.
    static func run<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable (CallCancellation) throws -> Result
    ) throws -> Result {
        let cancellation = CallCancellation()
        let result = Locked<Swift.Result<Result, any Error>?>(nil)
        let done = ThreadSemaphore(value: 0)
        Thread.detachNewThread {
            let outcome = Swift.Result { try body(cancellation) }
            result.withLock { $0 = outcome }
            done.signal()
        }
        // Adding a longer limit to the time would overflow.
        let nanoseconds = Int(min(max(limit, .zero), .seconds(1 << 31)) / .nanoseconds(1))
        _ = done.wait(timeout: .now() + .nanoseconds(nanoseconds))
        guard let outcome = result.withLock({ $0 }) else {
            cancellation.cancel()
            throw KeychainError.noAnswer(within: limit)
        }
        do {
            return try outcome.get()
        } catch let failure as SecretServiceFailure {
            throw failure.keychainError
        }
    }
}
#endif
