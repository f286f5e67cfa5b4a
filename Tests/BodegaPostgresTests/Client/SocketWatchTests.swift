#if Postgres
@testable import BodegaPostgres
import Foundation
import Testing

@Suite("Waiting for a socket")
struct SocketWatchTests {

    /// Creates a pair of connected sockets.
    private func pair() -> (Int32, Int32) {
        var sockets: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        precondition(socketpair(AF_UNIX, stream, 0, &sockets) == 0)
        return (sockets[0], sockets[1])
    }

    @Test("ends if the peer closed the connection before its last data was read")
    func end() async throws {
        let (here, there) = pair()
        defer { close(here) }
        let watch = try SocketWatch(socket: here)
        async let outcome = watch.wait(toWrite: false, until: .after(120), heedsCancellation: false)
        #expect(write(there, "bye", 3) == 3)
        close(there)
        #expect(await outcome == .ready)
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(read(here, &buffer, 10) == 3)
        // The end of the connection is still unread.
        for _ in 0..<3 {
            #expect(await watch.wait(toWrite: false, until: .after(120), heedsCancellation: false) == .ready)
            #expect(read(here, &buffer, 10) == 0)
        }
    }

    @Test("ends at the deadline, or when the task is cancelled")
    func nothing() async throws {
        let (here, there) = pair()
        defer {
            close(here)
            close(there)
        }
        let watch = try SocketWatch(socket: here)
        #expect(await watch.wait(toWrite: false, until: .after(0.01), heedsCancellation: true) == .timedOut)
        #expect(await watch.wait(toWrite: true, until: .after(120), heedsCancellation: true) == .ready)
        let task = Task { await watch.wait(toWrite: false, until: .after(120), heedsCancellation: true) }
        task.cancel()
        #expect(await task.value == .cancelled)
    }
}
#endif
