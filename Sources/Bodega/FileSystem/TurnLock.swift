import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A recursive lock between threads that is waited for until a deadline.
///
/// It is taken before an `flock`, so that at most one of its threads waits for other processes:
///
/// 1. A thread that holds the lock already runs its closure immediately.
/// 2. Another thread waits for the semaphore `free`, at most until its deadline.
/// 3. It stores itself in `holder`, runs its closure, clears `holder` and signals `free` for the next thread.
///
/// `holder` is guarded by its own lock and changed only between 2 and the end of 3.
package final class TurnLock: Sendable {
    private let free = ThreadSemaphore(value: 1)
    /// The thread that has the lock.
    private let holder = Locked<UInt?>(nil)

    package init() {}

    /// Runs a closure while no other thread holds the lock.
    ///
    /// - Parameters:
    ///   - deadline: Until when to wait for other threads.
    ///   - path: The locked file or folder, for the error.
    ///   - body: Runs immediately if this thread has the lock already.
    /// - Throws: ``StorageError/Code/locked`` after the deadline, or the closure's error.
    package func withLock<Result>(
        _ deadline: LockDeadline,
        _ path: @autoclosure () -> String,
        _ body: () throws -> Result
    ) throws -> Result {
        // One word on each platform: an integer on some, a pointer on others.
        let thread = withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
        if holder.withLock({ $0 == thread }) { return try body() }
        let remaining = Int((deadline.remaining / .nanoseconds(1)).rounded(.up))
        if free.wait(timeout: .now()) == .timedOut,
            WorkerThreads.waiting({ free.wait(timeout: .now() + .nanoseconds(remaining)) }) == .timedOut
        {
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
