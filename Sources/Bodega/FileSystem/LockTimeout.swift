package import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How long an operation waits for locks that other threads and processes hold.
///
/// A suspended process keeps its locks, so every wait has a limit.
package struct LockTimeout: Sendable {

    /// The limit of every engine: 30 seconds.
    package static let standard = LockTimeout(.seconds(30))

    let limit: Duration

    /// Returns the time since an arbitrary moment in the past, never set back.
    package let now: @Sendable () -> Duration

    /// Blocks the thread until the semaphore is signaled, at most for a time.
    let wait: @Sendable (ThreadSemaphore, Duration) -> Void

    /// Maximum number of the process's threads that wait for file locks. Other callers retry with pauses.
    let threads: Int

    /// Creates a timeout.
    ///
    /// - Parameters:
    ///   - limit: How long to wait. A free lock is taken even if this is zero.
    ///   - threads: Maximum number of the process's threads that wait for file locks. Other callers retry with pauses.
    ///   - now: Returns the time since an arbitrary moment in the past, never set back.
    ///   - wait: Blocks the thread until the semaphore is signaled, at most for a time; it may return earlier.
    package init(
        _ limit: Duration,
        threads: Int = 32,
        now: @escaping @Sendable () -> Duration = { .nanoseconds(DispatchTime.now().uptimeNanoseconds) },
        wait: @escaping @Sendable (_ answer: ThreadSemaphore, _ remaining: Duration) -> Void = { answer, remaining in
            _ = answer.wait(timeout: .now() + .nanoseconds(Int((remaining / .nanoseconds(1)).rounded(.up))))
        }
    ) {
        // Adding a longer limit to the time would overflow.
        self.limit = min(max(limit, .zero), .seconds(1 << 31))
        self.threads = threads
        self.now = now
        self.wait = wait
    }

    /// The deadline of an operation.
    ///
    /// - Parameter start: When the operation began, by ``now``; `nil` if it begins now.
    package func deadline(from start: Duration? = nil) -> LockDeadline {
        LockDeadline(timeout: self, end: (start ?? now()) + limit)
    }
}

/// The moment until which an operation waits for its locks, all of them together.
///
/// Waiting blocks the thread, which must not belong to Swift's cooperative pool.
package struct LockDeadline: Sendable {
    let timeout: LockTimeout
    let end: Duration

    private static let shortestPause = Duration.microseconds(200)
    private static let longestPause = Duration.milliseconds(20)

    /// The remaining time, never negative.
    var remaining: Duration { max(end - timeout.now(), .zero) }

    /// Takes an `flock`, waiting while another process or another descriptor of the file holds it.
    ///
    /// - Parameters:
    ///   - descriptor: The file or folder, open. Close it with ``FileSystem/closeLocked(_:)``. After an error, don't
    ///     lock it again.
    ///   - kind: `LOCK_EX` or `LOCK_SH`.
    ///   - isContinuation: Whether an operation that has another lock can only end with this one, so that it may take
    ///     it while a suspension waits for the operation.
    ///   - path: Its path, for the error.
    /// - Throws: ``StorageError/Code/locked`` after the deadline; ``StorageError/Code/suspended`` if the storage is
    ///   suspended before.
    package func lock(
        _ descriptor: Int32, _ kind: Int32, isContinuation: Bool = false, _ path: @autoclosure () -> String
    ) throws {
        try LockHolders.shared.add(descriptor, isContinuation: isContinuation)
        do {
            if try !tryLock(descriptor, kind, path()) { try wait(descriptor, kind, path()) }
        } catch {
            LockHolders.shared.remove(descriptor)
            throw error
        }
    }

    private func wait(_ descriptor: Int32, _ kind: Int32, _ path: @autoclosure () -> String) throws {
        let holders = LockHolders.shared
        if remaining > .zero {
            // A blocked request can't be withdrawn: the system would grant it to a process that it has suspended.
            guard !holders.areInUse, let request = LockRequest(descriptor, kind, limit: timeout.threads) else {
                return try retry(descriptor, kind, path())
            }
            holders.waking(request.answer) {
                WorkerThreads.waiting {
                    while request.result == nil, remaining > .zero, !holders.areSuspended {
                        timeout.wait(request.answer, remaining)
                    }
                }
            }
            if let number = request.abandon() {
                if number == 0 { return }
                throw StorageError.system(number, path(), "locked")
            }
        }
        try holders.check()
        throw error("Another process", path())
    }

    /// Takes an `flock` if it is free.
    private func tryLock(_ descriptor: Int32, _ kind: Int32, _ path: @autoclosure () -> String) throws -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            let number = errno
            if number == EWOULDBLOCK { return false }
            if number != EINTR { throw StorageError.system(number, path(), "locked") }
        }
        return true
    }

    /// Takes an `flock` without another thread: retries with pauses that become longer.
    private func retry(_ descriptor: Int32, _ kind: Int32, _ path: @autoclosure () -> String) throws {
        let never = ThreadSemaphore(value: 0)
        var pause = Self.shortestPause
        repeat {
            let remaining = remaining
            try LockHolders.shared.check()
            if remaining == .zero { throw error("Another process", path()) }
            LockHolders.shared.waking(never) { WorkerThreads.waiting { timeout.wait(never, min(pause, remaining)) } }
            pause = min(pause * 2, Self.longestPause)
        } while try !tryLock(descriptor, kind, path())
    }

    func error(_ holder: String, _ path: String) -> StorageError {
        StorageError(
            .locked,
            """
            \(holder) holds the lock and did not release it within \(timeout.limit.components.seconds) seconds. \
            Try again later. If it stays locked, a process that uses the file or folder hangs or was suspended: \
            `lsof` lists the processes that have it open; continue or end that process.
            """,
            file: URL(fileURLWithPath: path)
        )
    }
}
