#if Postgres
import Bodega
import Foundation

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

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Outcome, Never>
        let token: UInt64
    }

    private let lock = NSLock()
    private let sources: SocketSources
    private var waiter: Waiter?
    private var lastNumber: UInt64 = 0

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
        return await withTaskCancellationHandler {
            await wait(number, toRead, toWrite, deadline, heedsCancellation)
        } onCancel: {
            if heedsCancellation { finish(.cancelled, number) }
        }
    }

    private func wait(
        _ number: UInt64, _ toRead: Bool, _ toWrite: Bool, _ deadline: PostgresDeadline, _ heedsCancellation: Bool
    ) async -> Outcome {
        await withUnsafeContinuation { continuation in
            let outcome: Outcome? = lock.withLock {
                if heedsCancellation, Task.isCancelled { return .cancelled }
                if SocketSources.isReady(sources.descriptor, toRead: toRead, toWrite: toWrite) { return .ready }
                let token = Watchdog.shared.watch(until: deadline) { [weak self] in self?.finish(.timedOut, number) }
                waiter = Waiter(number: number, continuation: continuation, token: token)
                if toRead { sources.watchesReading = true }
                if toWrite { sources.watchesWriting = true }
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    private func finish(_ outcome: Outcome, _ number: UInt64? = nil) {
        let finished: Waiter? = lock.withLock {
            if let number, waiter?.number != number { return nil }
            defer { waiter = nil }
            sources.watchesReading = false
            sources.watchesWriting = false
            return waiter
        }
        guard let finished else { return }
        Watchdog.shared.cancel(finished.token)
        finished.continuation.resume(returning: outcome)
    }
}
#endif
