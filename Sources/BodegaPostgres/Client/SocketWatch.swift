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

/// Waits until a socket has something to read or room to write.
///
/// It keeps a duplicate of the descriptor, so that libpq may close its own at any time.
///
/// @unchecked because all that changes is only reached under `lock`.
final class SocketWatch: @unchecked Sendable {

    enum Outcome: Sendable {
        case ready
        case timedOut
        case cancelled
    }

    private typealias Waiter = UnsafeContinuation<Outcome, Never>

    private let lock = NSLock()
    private let descriptor: Int32
    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite
    private var readingIsOn = false
    private var writingIsOn = false
    private var waiter: (number: UInt64, continuation: Waiter, token: UInt64)?
    private var lastNumber: UInt64 = 0
    private var cancelledNumber: UInt64 = 0

    init(socket: Int32) throws {
        descriptor = dup(socket)
        guard descriptor >= 0 else {
            throw PostgresFailure(.cannotConnect, "No file descriptor is left: \(String(cString: strerror(errno)))")
        }
        let queue = DispatchQueue(label: "emporium.postgres.socket")
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        reading.setEventHandler { [weak self] in self?.finish(.ready) }
        writing.setEventHandler { [weak self] in self?.finish(.ready) }
        let closeLast = closing(descriptor)
        reading.setCancelHandler(handler: closeLast)
        writing.setCancelHandler(handler: closeLast)
    }

    deinit {
        // A source that is not running can't be released.
        reading.cancel()
        writing.cancel()
        if !readingIsOn { reading.resume() }
        if !writingIsOn { writing.resume() }
    }

    /// Waits for something to read, and for room to write if that is asked for.
    ///
    /// - Parameters:
    ///   - deadline: When to stop waiting.
    ///   - heedsCancellation: Whether the task's cancellation ends it too.
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
            if Self.isReady(descriptor, toRead: toRead, toWrite: toWrite) {
                lock.unlock()
                continuation.resume(returning: .ready)
                return
            }
            let token = Watchdog.shared.watch(until: deadline) { [weak self] in self?.finish(.timedOut, number) }
            waiter = (number, continuation, token)
            if toRead, !readingIsOn {
                readingIsOn = true
                reading.resume()
            }
            if toWrite, !writingIsOn {
                writingIsOn = true
                writing.resume()
            }
            lock.unlock()
        }
    }

    /// Whether there is no need to wait for a socket.
    ///
    /// Dispatch's sources tell only once that the other side is gone, and are of no use afterwards. Who has read what was left
    /// then, and waits for more, would wait for nothing.
    static func isReady(_ descriptor: Int32, toRead: Bool, toWrite: Bool) -> Bool {
        let events = (toRead ? Int16(POLLIN) : 0) | (toWrite ? Int16(POLLOUT) : 0)
        var request = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&request, 1, 0) > 0
    }

    /// Makes closing a socket drop what was written to it and not sent yet.
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
        if readingIsOn {
            readingIsOn = false
            reading.suspend()
        }
        if writingIsOn {
            writingIsOn = false
            writing.suspend()
        }
        lock.unlock()
        guard let finished else { return }
        Watchdog.shared.callOff(finished.token)
        finished.continuation.resume(returning: outcome)
    }
}
#endif
