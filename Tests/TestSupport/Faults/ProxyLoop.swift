import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The thread of a proxy. Only this thread uses the sockets. It holds the lock that also guards changes of the state,
/// so a change is in effect when its method returns.
final class ProxyLoop: Sendable {

    struct AnswerToLose: Sendable {
        var isMeant: @Sendable (Data) -> Bool
        var body: @Sendable () async throws -> Void
    }

    struct State {
        var connections: [ProxyConnection] = []
        var nextNumber = 0
        var delay = Duration.zero
        var frozenWhenNew: FaultyProxy.Directions = []
        var answerToLose: AnswerToLose?
        var hasLostAnswer = false
        var isOver = false
    }

    private let listener: Int32
    private let server: Int
    /// Writing to the second descriptor wakes the thread.
    private let wakers: (reading: Int32, writing: Int32)
    private let state = Locked(State())

    init(listener: Int32, server: Int) throws {
        self.listener = listener
        self.server = server
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        wakers = (ends[0], ends[1])
    }

    deinit {
        for descriptor in [listener, wakers.reading, wakers.writing] { close(descriptor) }
    }

    func read<Result>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    func change(_ body: (inout State) -> Void) {
        state.withLock(body)
        var byte: UInt8 = 0
        // A full pipe wakes the thread as well.
        _ = write(wakers.writing, &byte, 1)
    }

    func run() {
        while true {
            var (descriptors, limit) = state.withLock(interests)
            poll(&descriptors, nfds_t(descriptors.count), limit)
            var bytes = [UInt8](repeating: 0, count: 64)
            while systemRead(wakers.reading, &bytes, bytes.count) > 0 {}
            let ready = Set(descriptors.filter { $0.revents != 0 }.map(\.fd))
            let isOver = state.withLock { state in
                if !state.isOver { turn(&state, ready) }
                if state.isOver { for connection in state.connections { connection.close(.end) } }
                return state.isOver
            }
            if isOver { return }
        }
    }

    /// The events to wait for, and the maximum wait in milliseconds.
    private func interests(_ state: inout State) -> ([pollfd], Int32) {
        let now = ContinuousClock.now
        let own = [wakers.reading, listener].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let next = state.connections.compactMap(\.due).filter { $0 > now }.min()
        let limit = next.map { Int32(min(1 + ($0 - now) / .milliseconds(1), 1_000)) } ?? -1
        return (own + state.connections.flatMap { $0.interests(now: now) }, limit)
    }

    private func turn(_ state: inout State, _ ready: Set<Int32>) {
        while let client = Loopback.accept(on: listener) {
            do {
                var connection = ProxyConnection(
                    number: state.nextNumber, client: client, server: try Loopback.connect(to: server))
                connection.freeze(state.frozenWhenNew)
                state.connections.append(connection)
                state.nextNumber += 1
            } catch {
                close(client)
            }
        }
        for index in state.connections.indices {
            let answer = state.connections[index].receive(ready: ready, delay: state.delay)
            if !answer.isEmpty { lose(answer, of: index, &state) }
            state.connections[index].passOn()
        }
        for connection in state.connections where connection.isOver { connection.close(.end) }
        state.connections.removeAll { $0.isOver }
    }

    private func lose(_ answer: ArraySlice<UInt8>, of index: Int, _ state: inout State) {
        guard let toLose = state.answerToLose, toLose.isMeant(Data(answer)) else { return }
        state.answerToLose = nil
        state.hasLostAnswer = true
        state.connections[index].freeze(.toClient)
        let number = state.connections[index].number
        Task {
            // The test detects a failure by its results.
            do { try await toLose.body() } catch { print("After a lost answer: \(error)") }
            change { state in
                for connection in state.connections where connection.number == number { connection.close(.end) }
                state.connections.removeAll { $0.number == number }
            }
        }
    }
}

private let systemRead = read
