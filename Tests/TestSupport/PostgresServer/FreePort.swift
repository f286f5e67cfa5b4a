import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Ports below those that systems give to connections and to listeners without a port. One of them could be taken
/// between the choice of a port and the start of the server that listens on it.
private let ports = 12_000..<32_000
private let nextPort = Locked(Int.random(in: ports))

/// A TCP port on 127.0.0.1 on which nothing listens, another one for each call.
package func freePort() throws -> Int {
    for _ in ports {
        let port = nextPort.withLock { next in
            defer { next = next + 1 < ports.upperBound ? next + 1 : ports.lowerBound }
            return next
        }
        if try isFree(port) { return port }
    }
    throw PostgresServerError("There is no free port on 127.0.0.1.")
}

private func isFree(_ port: Int) throws -> Bool {
    #if canImport(Glibc)
    let stream = Int32(SOCK_STREAM.rawValue)
    #else
    let stream = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    guard descriptor >= 0 else { throw PostgresServerError("No socket could be created: \(errno)") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
