#if Postgres
import Bodega
import Dispatch
import Foundation

/// The Dispatch sources of a socket, which call a handler when the socket can be read or written.
///
/// They watch a duplicate of the descriptor, so that libpq may close its own at any time.
///
/// @unchecked because the owner accesses the two flags only under its own lock.
final class SocketSources: @unchecked Sendable {

    let descriptor: Int32
    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite

    /// Whether the handler is called when the socket can be read.
    var watchesReading = false {
        didSet { Self.set(reading, isOn: watchesReading, wasOn: oldValue) }
    }

    /// Whether the handler is called when the socket can be written.
    var watchesWriting = false {
        didSet { Self.set(writing, isOn: watchesWriting, wasOn: oldValue) }
    }

    init(socket: Int32, label: String) throws {
        let descriptor = dup(socket)
        guard descriptor >= 0 else {
            throw PostgresFailure(
                .cannotConnect, "The process has no file descriptor left: \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
        let queue = DispatchQueue(label: label)
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        // Each source has a cancel handler; the second call closes the descriptor.
        let users = Locked(2)
        let release: @Sendable () -> Void = {
            let isLast = users.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { close(descriptor) }
        }
        reading.setCancelHandler(handler: release)
        writing.setCancelHandler(handler: release)
    }

    deinit {
        reading.cancel()
        writing.cancel()
        // Dispatch traps when a suspended source is released.
        if !watchesReading { reading.resume() }
        if !watchesWriting { writing.resume() }
    }

    /// Sets the handler. Call it before watching.
    func setHandler(_ handler: @escaping @Sendable () -> Void) {
        reading.setEventHandler(handler: handler)
        writing.setEventHandler(handler: handler)
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

    private static func set(_ source: any DispatchSourceProtocol, isOn: Bool, wasOn: Bool) {
        if isOn, !wasOn { source.resume() }
        if !isOn, wasOn { source.suspend() }
    }
}
#endif
