#if Postgres
import Bodega
import Foundation
import PostgresTesting

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Stands between clients and a server on loopback, and loses the connection when told to, after the server has
/// committed and before the client hears of it.
final class LossyProxy: Sendable {

    private struct State {
        var beforeLoss: (@Sendable () async throws -> Void)?
        var hasLost = false
    }

    let port: Int
    private let listener: Int32
    private let server: Int
    private let state = Locked(State())

    init(to server: Int) async throws {
        self.server = server
        let listener = Self.makeSocket()
        self.listener = listener
        port = try Self.address(port: 0) { pointer, length in
            var length = length
            guard bind(listener, pointer, length) == 0, listen(listener, 16) == 0,
                getsockname(listener, pointer, &length) == 0
            else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
        let thread = Thread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else { break }
                self.serve(client)
            }
        }
        thread.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Loses the next connection on which a transaction is committed, after a closure has run.
    func loseNextCommit(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.beforeLoss = body }
    }

    var hasLost: Bool { state.withLock { $0.hasLost } }

    private func serve(_ client: Int32) {
        let server = Self.makeSocket()
        let isConnected = try? Self.address(port: self.server) { pointer, length in
            guard connect(server, pointer, length) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
        guard isConnected != nil else {
            close(client)
            return
        }
        let users = Locked(2)
        let end: @Sendable () -> Void = {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
            if users.withLock({ count in
                count -= 1; return count == 0
            }) {
                close(client)
                close(server)
            }
        }
        Thread {
            Self.pass(from: client, to: server) { _ in true }
            end()
        }.start()
        Thread { [weak self] in
            Self.pass(from: server, to: client) { self?.mayPass($0) ?? false }
            end()
        }.start()
    }

    /// Whether an answer of the server may reach the client. If not, the closure has run.
    private func mayPass(_ answer: Data) -> Bool {
        // The end of a transaction, after which the server is idle: of one that was begun, or of a statement.
        let isCommit =
            answer.range(of: Data("COMMIT\u{0}".utf8)) != nil || answer.range(of: Data("INSERT 0 1\u{0}".utf8)) != nil
        guard isCommit, answer.range(of: Data([0x5A, 0, 0, 0, 5, 0x49])) != nil else { return true }
        guard
            let body = state.withLock({ state in
                defer { state.beforeLoss = nil }
                state.hasLost = state.hasLost || state.beforeLoss != nil
                return state.beforeLoss
            })
        else { return true }
        let done = DispatchSemaphore(value: 0)
        Task {
            // What goes wrong shows in what the test finds.
            try? await body()
            done.signal()
        }
        done.wait()
        return false
    }

    private static func pass(from source: Int32, to destination: Int32, _ mayPass: (Data) -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
            guard mayPass(Data(buffer[0..<count])) else { return }
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes { bytes in
                    send(destination, bytes.baseAddress.map { $0 + sent }, count - sent, noSignal)
                }
                if written <= 0 { return }
                sent += written
            }
        }
    }

    private static var noSignal: Int32 {
        #if canImport(Darwin)
        0
        #else
        Int32(MSG_NOSIGNAL)
        #endif
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    /// Calls a closure with an address on loopback, and tells the port that is in it then.
    @discardableResult
    private static func address(
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
#endif
