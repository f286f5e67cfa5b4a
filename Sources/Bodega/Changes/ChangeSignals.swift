/// Hands signals of changes to all who wait for them. Signals that nobody has taken yet are one.
package final class ChangeSignals: Sendable {

    private struct Listener: Sendable {
        let stream: AsyncStream<Void>.Continuation
        /// Who makes the changes that he need not be told of.
        let origin: StorageOrigin?
    }

    private struct State: Sendable {
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Locked(State())
    private let silenced: (@Sendable () -> Void)?

    /// Creates signals that nobody listens to.
    ///
    /// - Parameter silenced: Is called when the last one has ceased to listen.
    package init(silenced: (@Sendable () -> Void)? = nil) {
        self.silenced = silenced
    }

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.stream.finish() }
    }

    /// A stream of a signal at once, and of those to come; an empty one after the end.
    ///
    /// - Parameter origin: Who makes the changes that need not be told.
    package func stream(excluding origin: StorageOrigin? = nil) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = Listener(stream: continuation, origin: origin)
            // Before any end.
            continuation.yield()
            return state.lastNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    private func remove(_ number: Int) {
        let (removed, isLast) = state.withLock { state in
            (state.listeners.removeValue(forKey: number), state.listeners.isEmpty)
        }
        // Released after the lock.
        if removed != nil, isLast { silenced?() }
    }

    /// Whether somebody listens.
    package var areHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Signals to those who listen.
    ///
    /// - Parameter origin: Who has made the only change that there is to tell of; `nil` if there may be others.
    package func send(changeBy origin: StorageOrigin? = nil) {
        let listeners = state.withLock { state in
            state.listeners.values.filter { origin == nil || $0.origin != origin }
        }
        for listener in listeners { listener.stream.yield() }
    }

    /// Ends all streams, those to come too.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.stream.finish() }
    }
}
