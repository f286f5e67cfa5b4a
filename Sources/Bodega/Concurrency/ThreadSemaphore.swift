package import Dispatch

#if canImport(Darwin)
/// A counter that threads wait for.
package typealias ThreadSemaphore = DispatchSemaphore
#else
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A counter that threads wait for, like that of Dispatch.
///
/// Dispatch waits with `sem_timedwait`, until a time of the clock that can be set: a wait would take longer by as much
/// as the clock is set back in the meantime.
package final class ThreadSemaphore: @unchecked Sendable {
    // @unchecked because the mutex guards the value.
    private var value: Int
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// - Parameter value: The number of waits that end immediately.
    package init(value: Int) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Lets one wait end: one in progress, or else the next one.
    package func signal() {
        pthread_mutex_lock(mutex)
        value += 1
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    /// Blocks the caller until ``signal()`` was called for it.
    package func wait() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while value <= 0 { pthread_cond_wait(condition, mutex) }
        value -= 1
    }

    /// Blocks the caller like ``wait()``, at most until a time.
    package func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
        // Both count from the start of the system.
        let time = timeout.uptimeNanoseconds
        var end = timespec()
        (end.tv_sec, end.tv_nsec) = (.init(time / 1_000_000_000), .init(time % 1_000_000_000))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while value <= 0 {
            if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return .timedOut }
        }
        value -= 1
        return .success
    }
}
#endif
