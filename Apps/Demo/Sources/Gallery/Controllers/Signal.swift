/// Notifies listeners of changes.
///
/// It is for state that is not stored. Stores and stored values publish their own changes.
@MainActor
final class Signal {
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var count = 0

    /// Notifies all listeners.
    func send() {
        for listener in listeners.values { listener.yield() }
    }

    /// An immediate element, so that a listener misses no change, and then an element for each call of ``send()``. A
    /// listener that reads too slowly gets one element for several calls.
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
