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

    /// Runs a closure as one of the streams of a client.
    ///
    /// - Throws: ``RequestRefusal/tooManyStreams`` or ``RequestRefusal/isBusy``.
    func run<Value>(of client: StorageClient, _ body: () async throws -> Value) async throws -> Value {
        let id = ExactText(client.id)
        try state.withLock { state in
            try check(id, state)
            state.byClient[id, default: 0] += 1
            state.total += 1
        }
        defer {
            state.withLock { state in
                let count = state.byClient[id, default: 1] - 1
                state.byClient[id] = count > 0 ? count : nil
                state.total -= 1
            }
        }
        return try await body()
    }

    /// Checks that a client may have one more.
    func check(_ client: StorageClient) throws {
        try state.withLock { try check(ExactText(client.id), $0) }
    }

    private func check(_ client: ExactText, _ state: State) throws {
        guard state.byClient[client, default: 0] < limits.streams else { throw RequestRefusal.tooManyStreams }
        guard state.total < limits.totalStreams else { throw RequestRefusal.isBusy }
    }
}
#endif
