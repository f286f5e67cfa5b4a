import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock between threads that its holder may take again, and that others wait for until a deadline.
///
/// It stands before an `flock` that several threads of a process need: each of them may be the one that waits for another
/// process.
package final class TurnLock: Sendable {
    private let free = DispatchSemaphore(value: 1)
    /// The thread that has the lock.
    private let holder = Locked<UInt?>(nil)

    package init() {}

    /// Runs a closure while no other thread does.
    ///
    /// - Parameters:
    ///   - deadline: Until when to wait for other threads.
    ///   - path: What the lock is for, for the error.
    ///   - body: Runs immediately if this thread has the lock already.
    /// - Throws: ``StorageError/Code/locked`` after the deadline; what the closure throws.
    package func withLock<Result>(
        _ deadline: LockDeadline,
        _ path: @autoclosure () -> String,
        _ body: () throws -> Result
    ) throws -> Result {
        // A word on each platform, a number on some and a pointer on others.
        let thread = withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
        if holder.withLock({ $0 == thread }) { return try body() }
        let rest = Int((deadline.rest / .nanoseconds(1)).rounded(.up))
        if free.wait(timeout: .now() + .nanoseconds(rest)) == .timedOut {
            throw deadline.error("Another thread of this process", path())
        }
        holder.withLock { $0 = thread }
        defer {
            holder.withLock { $0 = nil }
            free.signal()
        }
        return try body()
    }
}
