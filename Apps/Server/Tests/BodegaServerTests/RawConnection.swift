import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A connection to a server of this machine without any knowledge of HTTP. It is used by one task at a time.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close() }

    private func close() {
        #if canImport(Darwin)
        Darwin.close(descriptor)
        #else
        Glibc.close(descriptor)
        #endif
    }

    #if os(Linux)
    /// From now on, drops all that arrives, so that nothing is acknowledged, as if this side had lost its network. The
    /// other side does not get to know of the end of this connection, either.
    func vanish() throws {
        // A program of Linux' socket filters with one instruction, which lets 0 bytes pass.
        struct Instruction {
            var code: UInt16 = 0x06
            var (ifTrue, ifFalse): (UInt8, UInt8) = (0, 0)
            var value: UInt32 = 0
        }
        struct Program {
            var count: UInt16 = 1
            var instructions: UnsafeMutablePointer<Instruction>
        }
        var instruction = Instruction()
        let status = withUnsafeMutablePointer(to: &instruction) { instruction in
            var program = Program(instructions: instruction)
            let attachFilter: Int32 = 26
            return setsockopt(
                descriptor, SOL_SOCKET, attachFilter, &program, socklen_t(MemoryLayout<Program>.size))
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
    #endif

    /// Sends a text, and returns whether the other side was still there.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        #if canImport(Darwin)
        return bytes.withUnsafeBytes { Darwin.send(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
        #else
        return bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
        #endif
    }

    /// Sends a text whenever nothing has come for a tenth of a second, until the other side ends the connection.
    func drip(_ text: String) async {
        await onThread { [self] in
            while true {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&wanted, 1, 100) == 0 {
                    if !send(text) { return }
                } else {
                    var part: UInt8 = 0
                    if recv(descriptor, &part, 1, 0) <= 0 { return }
                }
            }
        }
    }

    /// Receives up to a text, or up to the end.
    func receive(to ending: String? = nil) async -> String {
        await onThread { [self] in
            var bytes = Data()
            var part = [UInt8](repeating: 0, count: 1 << 16)
            let wanted = ending.map { Data($0.utf8) }
            while true {
                let count = recv(descriptor, &part, part.count, 0)
                guard count > 0 else { break }
                bytes += part[..<count]
                if let wanted, bytes.range(of: wanted) != nil { break }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Receives up to the end, at a limited rate.
    ///
    /// - Returns: The number of bytes.
    func receive(bytesPerMillisecond rate: Int) async -> Int {
        await onThread { [self] in
            var part = [UInt8](repeating: 0, count: rate * 10)
            var total = 0
            while true {
                let count = recv(descriptor, &part, part.count, Int32(MSG_WAITALL))
                if count <= 0 { return total }
                total += count
                // Waits for nothing but the time.
                poll(nil, 0, 10)
            }
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
