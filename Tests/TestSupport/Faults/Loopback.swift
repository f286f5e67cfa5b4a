import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Sockets on 127.0.0.1 that never block.
package enum Loopback {

    /// Creates a socket that accepts connections on a free port.
    package static func listen() throws -> (socket: Int32, port: Int) {
        let socket = try makeSocket()
        do {
            let port = try withAddress(port: 0) { address, length in
                var length = length
                guard bind(socket, address, length) == 0, systemListen(socket, 64) == 0,
                    getsockname(socket, address, &length) == 0
                else { throw lastError() }
            }
            return (socket, port)
        } catch {
            close(socket)
            throw error
        }
    }

    /// Creates a socket that connects to a port. It may still be connecting when this returns.
    package static func connect(to port: Int) throws -> Int32 {
        let socket = try makeSocket()
        do {
            try withAddress(port: port) { address, length in
                if systemConnect(socket, address, length) != 0, errno != EINPROGRESS { throw lastError() }
            }
            return socket
        } catch {
            close(socket)
            throw error
        }
    }

    /// Accepts a connection if a client is waiting.
    package static func accept(on listener: Int32) -> Int32? {
        let socket = systemAccept(listener, nil, nil)
        guard socket >= 0 else { return nil }
        configure(socket)
        return socket
    }

    /// Outcome of receiving or sending.
    enum Transfer {
        case bytes(Int)
        case later
        /// The other side has closed the connection, or it is broken.
        case over
    }

    static func receive(from socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        outcome(of: recv(socket, buffer.baseAddress, buffer.count, 0))
    }

    static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Transfer {
        #if canImport(Darwin)
        outcome(of: systemSend(socket, bytes.baseAddress, bytes.count, 0))
        #else
        outcome(of: systemSend(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
        #endif
    }

    private static func outcome(of count: Int) -> Transfer {
        if count > 0 { return .bytes(count) }
        if count < 0, [EAGAIN, EWOULDBLOCK, EINTR, ENOTCONN].contains(errno) { return .later }
        return .over
    }

    /// Makes the system send a reset instead of an orderly end when the socket is closed.
    static func resetOnClose(_ socket: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    private static func makeSocket() throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw lastError() }
        configure(descriptor)
        return descriptor
    }

    private static func configure(_ socket: Int32) {
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        // A child process must not keep a connection open.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, length)
        #if canImport(Darwin)
        setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, length)
        #endif
    }

    private static func lastError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }

    /// Calls a closure with an address on loopback.
    ///
    /// - Returns: The port that the address holds afterwards.
    @discardableResult
    private static func withAddress(
        port: Int,
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) throws -> Void
    ) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

// The system functions that share their names with methods above.
private let systemListen = listen
private let systemConnect = connect
private let systemAccept = accept
private let systemSend = send
