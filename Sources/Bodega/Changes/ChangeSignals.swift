/// Signals of changes for any number of listeners. Signals that a listener has not taken yet are one.
package final class ChangeSignals: Sendable {

    private struct Listener: Sendable {
        let stream: AsyncStream<Void>.Continuation
        /// The origin whose changes are not signaled to the listener.
        let origin: StorageOrigin?
    }

    private struct State: Sendable {
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Locked(State())
    private let silenced: (@Sendable () -> Void)?

    /// Creates signals without listeners.
    ///
    /// - Parameter silenced: Called when the last listener has ended.
    package init(silenced: (@Sendable () -> Void)? = nil) {
        self.silenced = silenced
    }

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.stream.finish() }
    }

    /// Returns a stream that begins with a signal. It is empty after ``finish()``.
    ///
    /// - Parameter origin: The origin whose own changes are omitted.
    package func stream(excluding origin: StorageOrigin? = nil) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = Listener(stream: continuation, origin: origin)
            // Before the lock is released, so that it comes before the end of the stream.
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

    /// Whether there are listeners.
    package var areHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Signals to the listeners.
    ///
    /// - Parameter origin: The origin of all changes since the last signal; `nil` if there may be several.
    package func send(changeBy origin: StorageOrigin? = nil) {
        let listeners = state.withLock { state in
            state.listeners.values.filter { origin == nil || $0.origin != origin }
        }
        for listener in listeners { listener.stream.yield() }
    }

    /// Ends all streams, future ones included.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.stream.finish() }
    }
}
