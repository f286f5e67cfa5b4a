#if Server
import Bodega
import NIOCore

/// The connection for which a task answers requests.
enum ServedConnection {
    /// Its event loop; `nil` for the routes of an application that has others as well.
    @TaskLocal static var eventLoop: (any EventLoop)?
    /// Whether its client is gone; `nil` for such routes.
    @TaskLocal static var departure: ClientDeparture?

    /// Waits until the connection has what was written to it, so that it can make the next write wait.
    ///
    /// A write returns when it is on the way to the event loop. Until the loop has seen it, more would be taken, and be
    /// kept in memory: on a busy machine tens of megabytes for one client, which could not read them in time.
    static func catchUp() async throws { try await eventLoop?.submit {}.get() }
}

/// The moment at which a client closes its connection, or its half of it.
final class ClientDeparture: Sendable {
    private struct State {
        var isGone = false
        var last = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Cancels a task when the client is gone.
    ///
    /// - Returns: A number for ``forget(_:)``.
    func cancelling(_ task: Task<Void, Never>) -> Int {
        let (number, isGone) = state.withLock { state in
            state.last += 1
            if !state.isGone { state.tasks[state.last] = task }
            return (state.last, state.isGone)
        }
        if isGone { task.cancel() }
        return number
    }

    func forget(_ number: Int) { _ = state.withLock { $0.tasks.removeValue(forKey: number) } }

    fileprivate func note() {
        let tasks = state.withLock { state in
            state.isGone = true
            defer { state.tasks = [:] }
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }
}

/// Notes when a client is gone: nothing else does while an answer is prepared, because nothing is written then.
final class DepartureWatch: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    let departure = ClientDeparture()

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { departure.note() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        departure.note()
        context.fireChannelInactive()
    }
}
#endif
