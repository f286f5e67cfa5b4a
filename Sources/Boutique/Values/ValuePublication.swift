import Bodega
import Dispatch
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

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
final class ValuePublication<Value: Sendable>: Sendable {

    /// A value and the bytes that it was decoded from.
    struct Snapshot: Sendable {
        var data: Data?
        var value: Value
    }

    private struct State {
        var waiting: [Snapshot] = []
        var isDelivering = false
        /// The value that was published last; before that, the first value that was read.
        var published: Value?
        /// The bytes of the snapshot that was queued last; before that, of the first that was read.
        var latest: Data??
        var subject: CurrentValueSubject<Value, Never>?

        mutating func enqueue(_ snapshot: Snapshot) {
            waiting.append(snapshot)
            latest = .some(snapshot.data)
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

    /// Saves a value and queues the change.
    ///
    /// - Parameters:
    ///   - snapshot: The value.
    ///   - save: Saves it. If it throws, there is no change.
    func enqueue(_ snapshot: Snapshot, save: () throws -> Void) rethrows {
        try order.withLock {
            try save()
            state.withLock { $0.enqueue(snapshot) }
        }
    }

    /// Queues a foreign change, unless it is known already.
    ///
    /// - Parameters:
    ///   - isCurrent: Returns whether the snapshot may be published; called after `load`.
    ///   - load: Reads the value.
    /// - Returns: Whether there was a change.
    func enqueue(if isCurrent: () -> Bool = { true }, load: () throws -> Snapshot) rethrows -> Bool {
        try order.withLock {
            let snapshot = try load()
            let isNew = isCurrent() && noteRead(snapshot)
            if isNew { state.withLock { $0.enqueue(snapshot) } }
            return isNew
        }
    }

    /// The value that was published last; before that, the first value that was read.
    var published: Value? { state.withLock { $0.published } }

    /// Notes that a snapshot was read.
    ///
    /// - Returns: Whether it differs from the latest one, so that it has to be published.
    func noteRead(_ snapshot: Snapshot) -> Bool {
        state.withLock { state in
            if let latest = state.latest { return latest != snapshot.data }
            state.latest = .some(snapshot.data)
            state.published = snapshot.value
            return false
        }
    }

    /// Publishes the queued changes, unless another thread is delivering; that thread then publishes these as well.
    func deliver() {
        var isFirst = true
        while let snapshot = next(isFirst) {
            isFirst = false
            willChangeSubject.send()
            observation.willChange()
            let subject = state.withLock { state in
                state.published = snapshot.value
                return state.subject
            }
            subject?.send(snapshot.value)
            observation.didChange()
        }
    }

    private func next(_ isFirst: Bool) -> Snapshot? {
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
