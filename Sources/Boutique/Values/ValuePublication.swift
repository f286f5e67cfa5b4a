import Bodega
import Dispatch
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Tells what a value becomes, one change after the other: to the Observation framework, to publishers and to streams.
///
/// Changes are queued where their order is certain, and told by ``deliver()``, where no lock is held, so that whoever
/// hears of a change may read and change the value again.
final class ValuePublication<Value: Sendable>: Sendable {

    /// A value and the bytes that it was made from.
    struct Snapshot: Sendable {
        var data: Data?
        var value: Value
    }

    private struct State {
        var waiting: [Snapshot] = []
        var isDelivering = false
        /// What was told last, or what the first who looked was shown.
        var told: Value?
        /// The bytes of what was queued last, or else of what was shown.
        var latest: Data??
        var subject: CurrentValueSubject<Value, Never>?

        mutating func enqueue(_ snapshot: Snapshot) {
            waiting.append(snapshot)
            latest = .some(snapshot.data)
        }
    }

    private let state = Locked(State())

    /// Held while it is found out what comes next in the queue. Taken after the exclusive time of a ``ValueStorage``,
    /// never before.
    private let order = NSRecursiveLock()

    /// For those who read the value.
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

    /// Queues a change that somebody else has made, if it is not known yet.
    ///
    /// - Parameters:
    ///   - counts: Whether what has been read just now is to be told.
    ///   - load: Reads the value.
    /// - Returns: Whether there was a change.
    func enqueue(if counts: () -> Bool = { true }, load: () throws -> Snapshot) rethrows -> Bool {
        try order.withLock {
            let snapshot = try load()
            let isNew = counts() && show(snapshot)
            if isNew { state.withLock { $0.enqueue(snapshot) } }
            return isNew
        }
    }

    /// What was told last, or what the first who looked was shown.
    var told: Value? { state.withLock { $0.told } }

    /// Notes that somebody was shown a value.
    ///
    /// - Returns: Whether others know another one.
    func show(_ snapshot: Snapshot) -> Bool {
        state.withLock { state in
            if let latest = state.latest { return latest != snapshot.data }
            state.latest = .some(snapshot.data)
            state.told = snapshot.value
            return false
        }
    }

    /// Tells the changes in the queue, unless somebody is at it already; they then go on with these.
    func deliver() {
        var isFirst = true
        while let snapshot = next(isFirst) {
            isFirst = false
            willChangeSubject.send()
            observation.willChange()
            let subject = state.withLock { state in
                state.told = snapshot.value
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

    /// A publisher of the value and then of each change.
    ///
    /// - Parameter refresh: Has the changes told that others have made, and returns the value. Subscriptions retain it.
    func publisher(_ refresh: @escaping @Sendable () -> Value) -> AnyPublisher<Value, Never> {
        Deferred {
            let value = refresh()
            return self.state.withLock { state in
                let subject = state.subject ?? CurrentValueSubject(state.told ?? value)
                state.subject = subject
                return subject
            }
        }
        // A subscription keeps alive what it hears from, also if the wrapper is gone.
        .map { value in withExtendedLifetime(refresh) { value } }
        .eraseToAnyPublisher()
    }
}

extension Publisher where Failure == Never, Output: Sendable {

    /// The elements as a stream. One that is not read keeps the newest 256.
    var stream: AsyncStream<Output> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let subscription = Locked<AnyCancellable?>(nil)
            // Set before the sink: the stream may end while the first elements come.
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
