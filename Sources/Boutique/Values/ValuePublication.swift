import Bodega
import Dispatch
import Foundation

/// Publishes the changes of a value, one after the other: to the Observation framework, to publishers and to streams.
///
/// 1. A writer saves the value and appends it to `waiting` under `order`, so the queue has the order of the storage.
/// 2. The writer releases all locks and calls ``deliver()``. If another thread is delivering, it delivers this change
///    as well, and the writer returns.
/// 3. For each change, the delivering thread notifies `willChange` and the Observation framework, sets `published`,
///    sends the value to the subject and notifies the framework again. Subscribers may read and change the value.
/// 4. It ends when `waiting` is empty.
///
/// `order` is held while a value is saved or read and then queued; it is taken within the exclusive access to a
/// ``ValueStorage``, never before. `state` guards all properties and is only held for a moment.
final class ValuePublication<Value: StorableItem>: Sendable {

    typealias Reading = ValueReading<Value>

    private struct State {
        var waiting: [Reading] = []
        var isDelivering = false
        /// The value that was published last; before that, the first value that was read.
        var published: Value?
        /// The bytes of the reading that was queued last; before that, of the first that was read.
        var latest: Data??
        var subject: CurrentValueSubject<Value, Never>?

        mutating func enqueue(_ reading: Reading) {
            waiting.append(reading)
            latest = .some(reading.data)
        }
    }

    private let state = Locked(State())
    private let order = NSRecursiveLock()

    /// Tracks the readers of the value.
    let observation = ObservationPoint()

    // `send` and `sink` of a subject may be called from any thread.
    nonisolated(unsafe) private let willChangeSubject = PassthroughSubject<Void, Never>()

    /// Emits before each change.
    var willChange: some Publisher<Void, Never> { willChangeSubject }

    /// Saves a value and queues the change, unless saving throws.
    func enqueue(_ reading: Reading, save: () throws -> Void) rethrows {
        try order.withLock {
            try save()
            state.withLock { $0.enqueue(reading) }
        }
    }

    /// Queues a foreign change, unless it is known already or `isCurrent`, called after `load`, returns `false`.
    ///
    /// - Returns: Whether there was a change.
    func enqueue(if isCurrent: () -> Bool = { true }, load: () throws -> Reading) rethrows -> Bool {
        try order.withLock {
            let reading = try load()
            let isNew = isCurrent() && noteRead(reading)
            if isNew { state.withLock { $0.enqueue(reading) } }
            return isNew
        }
    }

    /// The value that was published last; before that, the first value that was read.
    var published: Value? { state.withLock { $0.published } }

    /// Notes that a reading was read.
    ///
    /// - Returns: Whether it differs from the latest one, so that it has to be published.
    func noteRead(_ reading: Reading) -> Bool {
        state.withLock { state in
            if let latest = state.latest { return latest != reading.data }
            state.latest = .some(reading.data)
            state.published = reading.value
            return false
        }
    }

    /// Publishes the queued changes, unless another thread is delivering; that thread then publishes these as well.
    func deliver() {
        var isFirst = true
        while let reading = next(isFirst) {
            isFirst = false
            willChangeSubject.send()
            observation.willChange()
            let subject = state.withLock { state in
                state.published = reading.value
                return state.subject
            }
            subject?.send(reading.value)
            observation.didChange()
        }
    }

    private func next(_ isFirst: Bool) -> Reading? {
        state.withLock { state in
            if isFirst, state.isDelivering { return nil }
            state.isDelivering = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    /// A publisher of the current value and each change.
    ///
    /// - Parameter refresh: Publishes foreign changes and returns the value. Subscriptions retain it.
    func publisher(_ refresh: @escaping @Sendable () -> Value) -> AnyPublisher<Value, Never> {
        Deferred {
            let value = refresh()
            return self.state.withLock { state in
                let subject = state.subject ?? CurrentValueSubject(state.published ?? value)
                state.subject = subject
                return subject
            }
        }
        // A subscription keeps its source alive after the wrapper is gone.
        .map { value in withExtendedLifetime(refresh) { value } }
        .eraseToAnyPublisher()
    }
}

extension Publisher where Failure == Never, Output: Sendable {

    /// The elements as a stream, which buffers the newest 256.
    var stream: AsyncStream<Output> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let subscription = Locked<AnyCancellable?>(nil)
            // Set before the sink: the stream may end while the first elements arrive.
            continuation.onTermination = { _ in
                subscription.withLock { $0.take() }?.cancel()
            }
            let sink = sink { _ in
                continuation.finish()
            } receiveValue: {
                continuation.yield($0)
            }
            subscription.withLock { $0 = sink }
        }
    }
}
