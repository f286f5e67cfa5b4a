import Foundation
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One end of a connection, or a listening socket.
final class Peer: Sendable {
    private let socket: Int32

    init(_ socket: Int32) {
        self.socket = socket
    }

    deinit { close(socket) }

    func accept() async throws -> Peer {
        while true {
            if let socket = Loopback.accept(on: socket) { return Peer(socket) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func send(_ text: String) {
        precondition(write(Array(text.utf8)[...]) == text.utf8.count)
    }

    func sendAll(_ text: String) async throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = write(rest)
            if count > 0 { rest.removeFirst(count) } else { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { systemWrite(socket, $0.baseAddress, $0.count) }
    }

    /// Ends the connection in this direction, or stops accepting connections.
    func end() {
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// The received bytes.
    func available() -> String {
        String(decoding: read(upTo: 1_000).bytes, as: UTF8.self)
    }

    /// Waits for a number of bytes.
    func receive(_ count: Int) async throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = read(upTo: count - bytes.count)
            if let end = more.end { throw POSIXError(end == .end ? .EPIPE : .ECONNRESET) }
            bytes += more.bytes
            if more.bytes.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until the other side has ended the connection, and returns how.
    func awaitEnd() async throws -> FaultyProxy.Cut {
        while true {
            if let end = read(upTo: 1_000).end { return end }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func read(upTo count: Int) -> (bytes: [UInt8], end: FaultyProxy.Cut?) {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(socket, &buffer, count, 0)
        if received > 0 { return (Array(buffer[..<received]), nil) }
        if received == 0 { return ([], .end) }
        return ([], [EAGAIN, EINTR, ENOTCONN].contains(errno) ? nil : .reset)
    }
}

private let systemWrite = write
