import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A blocking `flock` on a thread of its own, which its caller can abandon.
///
/// The system grants the lock as soon as it is free. A caller that retries with pauses in between starves if another
/// process locks again after short gaps.
///
/// 1. The caller starts a thread, which blocks in `flock`, and waits for ``answer``.
/// 2. The lock is granted or refused: the thread stores the ``result`` and signals ``answer``.
/// 3. Or the caller's time is over: it abandons the request, and the thread unlocks the file when the lock is granted.
///
/// `state` is guarded by its lock and decides between 2 and 3. After an abandoned request, the caller must close the
/// descriptor and not lock it again, because all copies of a descriptor share one lock.
final class LockRequest: Sendable {
    private enum State {
        case waiting
        /// The value of `errno`, zero if the lock was granted.
        case ended(Int32)
        case abandoned
    }

    private let state = Locked(State.waiting)

    /// Is signaled when the request has ended.
    let answer = ThreadSemaphore(value: 0)

    /// The number of threads in this process. Each stays until its lock is granted, even if it was abandoned.
    private static let threads = Locked(0)

    /// Requests a lock.
    ///
    /// - Parameters:
    ///   - descriptor: The file or folder, open.
    ///   - kind: `LOCK_EX` or `LOCK_SH`.
    ///   - limit: Maximum number of threads.
    /// - Returns: `nil` if there are as many threads already, or no descriptor is left.
    init?(_ descriptor: Int32, _ kind: Int32, limit: Int) {
        let isAllowed = Self.threads.withLock { threads in
            if threads >= limit { return false }
            threads += 1
            return true
        }
        guard isAllowed else { return nil }
        // The caller may close its own descriptor before the thread is done with it.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if copy < 0 {
            Self.threads.withLock { $0 -= 1 }
            return nil
        }
        Thread.detachNewThread { self.wait(copy, kind) }
    }

    private func wait(_ copy: Int32, _ kind: Int32) {
        var number: Int32 = 0
        while flock(copy, kind) != 0 {
            number = errno
            if number != EINTR || isAbandoned { break }
            number = 0
        }
        state.withLock { state in
            // Unlocked before it is closed: a forked child process may have inherited the descriptor.
            if case .abandoned = state { flock(copy, LOCK_UN) }
            close(copy)
            if case .waiting = state { state = .ended(number) }
        }
        Self.threads.withLock { $0 -= 1 }
        answer.signal()
    }

    private var isAbandoned: Bool {
        state.withLock { state in
            if case .abandoned = state { return true }
            return false
        }
    }

    /// The value of `errno`, zero if the lock was granted; `nil` while the thread waits.
    var result: Int32? {
        state.withLock { state in
            guard case .ended(let number) = state else { return nil }
            return number
        }
    }

    /// Abandons the request.
    ///
    /// - Returns: The ``result`` if the request has ended in the meantime; then it was not abandoned.
    func abandon() -> Int32? {
        state.withLock { state in
            if case .ended(let number) = state { return number }
            state = .abandoned
            return nil
        }
    }
}
