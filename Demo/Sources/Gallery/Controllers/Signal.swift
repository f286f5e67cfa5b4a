/// Tells whoever listens that something has changed.
///
/// It is for what is not stored. Stores and stored values tell of their changes by themselves.
@MainActor
final class Signal {
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var count = 0

    /// Tells all listeners.
    func send() {
        for listener in listeners.values { listener.yield() }
    }

    /// An element at once, so that nothing is missed that changed since somebody looked, and then one for each call of
    /// ``send()``. Who reads too slowly gets one for several.
    var events: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        count += 1
        let number = count
        listeners[number] = continuation
        continuation.yield()
        continuation.onTermination = { _ in
            Task { @MainActor [weak self] in self?.listeners[number] = nil }
        }
        return stream
    }
}
