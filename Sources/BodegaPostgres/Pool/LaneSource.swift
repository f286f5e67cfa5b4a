#if Postgres
import Bodega
import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls back whenever a socket has something to read, and, when asked to, when it has room to write.
///
/// It keeps a duplicate of the descriptor, so that libpq may close its own at any time.
///
/// @unchecked because `wantsToWrite` is only reached under the lane's lock.
final class LaneSource: @unchecked Sendable {

    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite

    var wantsToWrite = false {
        didSet {
            if wantsToWrite, !oldValue { writing.resume() }
            if !wantsToWrite, oldValue { writing.suspend() }
        }
    }

    init(socket: Int32, _ call: @escaping @Sendable () -> Void) throws {
        let descriptor = dup(socket)
        guard descriptor >= 0 else {
            throw PostgresFailure(.cannotConnect, "No file descriptor is left: \(String(cString: strerror(errno)))")
        }
        let queue = DispatchQueue(label: "emporium.postgres.lane")
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        reading.setEventHandler(handler: call)
        writing.setEventHandler(handler: call)
        let closeLast = closing(descriptor)
        reading.setCancelHandler(handler: closeLast)
        writing.setCancelHandler(handler: closeLast)
        reading.resume()
    }

    deinit {
        reading.cancel()
        writing.cancel()
        // A source that is not running can't be released.
        if !wantsToWrite { writing.resume() }
    }
}

/// Makes what closes a descriptor when it is called for the second time: by each of two sources when it is done.
func closing(_ descriptor: Int32) -> @Sendable () -> Void {
    let users = Locked(2)
    return {
        let isLast = users.withLock { count in
            count -= 1
            return count == 0
        }
        if isLast { close(descriptor) }
    }
}
#endif
