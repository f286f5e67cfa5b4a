#if Server
import Bodega

/// The open streams of events.
final class OpenStreams: Sendable {
    private struct State {
        var byClient: [ExactText: Int] = [:]
        var total = 0
    }

    private let state = Locked(State())
    private let limits: StorageServerLimits

    init(_ limits: StorageServerLimits) { self.limits = limits }

    /// The number of all.
    var count: Int { state.withLock { $0.total } }

    /// Takes the place of one more stream of a client.
    ///
    /// - Returns: The place, which is given back with the last reference to it.
    /// - Throws: ``RequestRefusal/tooManyStreams`` or ``RequestRefusal/isBusy``.
    func take(for client: StorageClient) throws -> Place {
        let id = ExactText(client.id)
        try state.withLock { state in
            try check(id, state)
            state.byClient[id, default: 0] += 1
            state.total += 1
        }
        return Place(self, id)
    }

    private func giveBack(of client: ExactText) {
        state.withLock { state in
            let count = state.byClient[client, default: 1] - 1
            state.byClient[client] = count > 0 ? count : nil
            state.total -= 1
        }
    }

    /// The place of a stream.
    final class Place: Sendable {
        private let streams: OpenStreams
        private let client: ExactText

        fileprivate init(_ streams: OpenStreams, _ client: ExactText) {
            (self.streams, self.client) = (streams, client)
        }

        deinit { streams.giveBack(of: client) }
    }

    private func check(_ client: ExactText, _ state: State) throws {
        guard state.byClient[client, default: 0] < limits.streams else { throw RequestRefusal.tooManyStreams }
        guard state.total < limits.totalStreams else { throw RequestRefusal.isBusy }
    }
}
#endif
