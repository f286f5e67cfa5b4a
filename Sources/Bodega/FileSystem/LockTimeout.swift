import Dispatch
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
/// A process that was stopped keeps its locks, so nothing waits for one without a limit.
package struct LockTimeout: Sendable {

    /// The limit of every engine: 30 seconds.
    package static let standard = LockTimeout(.seconds(30))

    let limit: Duration

    /// The time since any moment of the past, never set back.
    package let now: @Sendable () -> Duration

    /// Blocks the thread.
    let pause: @Sendable (Duration) -> Void

    /// Describes a limit.
    ///
    /// - Parameters:
    ///   - limit: How long to wait. A lock that is free is taken in any case.
    ///   - now: Returns the time since any moment of the past, never set back.
    ///   - pause: Blocks the thread for a time.
    package init(
        _ limit: Duration,
        now: @escaping @Sendable () -> Duration = { .nanoseconds(DispatchTime.now().uptimeNanoseconds) },
        pause: @escaping @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    ) {
        // Longer ones could not be added to the time.
        self.limit = min(max(limit, .zero), .seconds(1 << 31))
        self.now = now
        self.pause = pause
    }

    /// The deadline of an operation.
    ///
    /// - Parameter start: When the operation began, by ``now``; `nil` if it begins now.
    package func deadline(from start: Duration? = nil) -> LockDeadline {
        LockDeadline(timeout: self, end: (start ?? now()) + limit)
    }
}

/// Until when an operation waits for locks, all together.
///
/// Waiting blocks the thread, so it must not be one of Swift's cooperative pool.
package struct LockDeadline: Sendable {
    let timeout: LockTimeout
    let end: Duration

    private static let shortestPause = Duration.microseconds(200)
    private static let longestPause = Duration.milliseconds(20)

    /// How long the operation may still wait, never negative.
    var rest: Duration { max(end - timeout.now(), .zero) }

    /// Takes an `flock`. While another process or another opening of the file holds it, it is tried again and again, with
    /// pauses that become longer.
    ///
    /// - Parameters:
    ///   - descriptor: The file or folder, open. Close it with ``FileSystem/closeLocked(_:)``.
    ///   - kind: `LOCK_EX` or `LOCK_SH`.
    ///   - path: Its path, for the error.
    /// - Throws: ``StorageError/Code/locked`` after the deadline.
    package func lock(_ descriptor: Int32, _ kind: Int32, _ path: @autoclosure () -> String) throws {
        var pause = Self.shortestPause
        while flock(descriptor, kind | LOCK_NB) != 0 {
            let number = errno
            if number == EINTR { continue }
            if number != EWOULDBLOCK { throw StorageError.system(number, path(), "locked") }
            let rest = rest
            if rest == .zero { throw error("Another process", path()) }
            timeout.pause(min(pause, rest))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    func error(_ holder: String, _ path: String) -> StorageError {
        StorageError(
            .locked,
            """
            \(holder) holds its lock, and did not give it back within \(timeout.limit.components.seconds) seconds. Try again later. \
            If it stays locked, a process that uses it hangs or was stopped: `lsof` lists the processes that have it open; \
            continue or end that one.
            """,
            file: URL(fileURLWithPath: path)
        )
    }
}
