#if Postgres
import Bodega
import CPostgres
import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Suspends a task until a socket can be read or written.
///
/// One wait at a time goes through this cycle:
///
/// 1. `wait` takes a number. If the wait was cancelled by then, or the socket is ready, it returns immediately.
/// 2. Otherwise it stores its continuation as the `waiter`, sets a timer and switches the socket's sources on.
/// 3. A source, the timer or the cancellation of the task calls `finish`. The first call takes the `waiter`, switches
///    the sources off and resumes the continuation. A later call with the number of a wait that is over has no effect.
///
/// `lock` guards all mutable state, the flags of `sources` included. Continuations are resumed outside the lock.
///
/// @unchecked because mutable state is only accessed under `lock`.
final class SocketWatch: @unchecked Sendable {

    enum Outcome: Sendable {
        case ready
        case timedOut
        case cancelled
    }

    private typealias Waiter = UnsafeContinuation<Outcome, Never>

    private let lock = NSLock()
    private let sources: SocketSources
    private var waiter: (number: UInt64, continuation: Waiter, token: UInt64)?
    private var lastNumber: UInt64 = 0
    private var cancelledNumber: UInt64 = 0

    init(socket: Int32) throws {
        sources = try SocketSources(socket: socket, label: "emporium.postgres.socket")
        sources.setHandler { [weak self] in self?.finish(.ready) }
    }

    /// Waits until the socket can be read or written.
    ///
    /// - Parameters:
    ///   - toRead: Whether readable data ends the wait.
    ///   - toWrite: Whether room for output ends the wait.
    ///   - deadline: When to stop waiting.
    ///   - heedsCancellation: Whether cancellation of the task ends the wait.
    func wait(
        toRead: Bool = true,
        toWrite: Bool,
        until deadline: PostgresDeadline,
        heedsCancellation: Bool
    ) async -> Outcome {
        let number = lock.withLock {
            lastNumber += 1
            return lastNumber
        }
        if !heedsCancellation { return await wait(number, toRead, toWrite, deadline) }
        return await withTaskCancellationHandler {
            await wait(number, toRead, toWrite, deadline)
        } onCancel: {
            cancel(number)
        }
    }

    private func wait(
        _ number: UInt64,
        _ toRead: Bool,
        _ toWrite: Bool,
        _ deadline: PostgresDeadline
    ) async -> Outcome {
        await withUnsafeContinuation { continuation in
            lock.lock()
            if cancelledNumber == number {
                lock.unlock()
                continuation.resume(returning: .cancelled)
                return
            }
            if Self.isReady(sources.descriptor, toRead: toRead, toWrite: toWrite) {
                lock.unlock()
                continuation.resume(returning: .ready)
                return
            }
            let token = Watchdog.shared.watch(until: deadline) { [weak self] in self?.finish(.timedOut, number) }
            waiter = (number, continuation, token)
            if toRead { sources.watchesReading = true }
            if toWrite { sources.watchesWriting = true }
            lock.unlock()
        }
    }

    /// Whether a socket can be read or written without waiting.
    ///
    /// A Dispatch source reports only once that the peer has closed the connection. A reader that takes the remaining
    /// data and then waits for another event would wait forever.
    static func isReady(_ descriptor: Int32, toRead: Bool, toWrite: Bool) -> Bool {
        let events = (toRead ? Int16(POLLIN) : 0) | (toWrite ? Int16(POLLOUT) : 0)
        var request = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&request, 1, 0) > 0
    }

    /// Makes closing a socket discard data that was written but not yet sent.
    static func discardOutput(of descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private func cancel(_ number: UInt64) {
        lock.withLock { cancelledNumber = max(cancelledNumber, number) }
        finish(.cancelled, number)
    }

    private func finish(_ outcome: Outcome, _ number: UInt64? = nil) {
        lock.lock()
        if let number, waiter?.number != number {
            lock.unlock()
            return
        }
        let finished = waiter
        waiter = nil
        sources.watchesReading = false
        sources.watchesWriting = false
        lock.unlock()
        guard let finished else { return }
        Watchdog.shared.cancel(finished.token)
        finished.continuation.resume(returning: outcome)
    }
}
#endif
