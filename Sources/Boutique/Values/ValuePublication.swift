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
/// Changes are queued by ``enqueue(_:)``, where their order is certain, and told by ``deliver()``, where no lock is held,
/// so that whoever hears of a change may read and change the value again.
final class ValuePublication<Value: Sendable>: Sendable {

    /// A value and the bytes that it was made from.
    struct Snapshot: Sendable {
        var data: Data?
        var value: Value
    }

    /// A change that is waiting to be told.
    enum Change: Sendable {
        /// The value was set.
        case set(Snapshot)
        /// The value may be another one. Nothing is told if its bytes are those that were told last.
        case reload(@Sendable () -> Snapshot?)
    }

    private struct State {
        var waiting: [Change] = []
        var isDelivering = false
        var subject: CurrentValueSubject<Value, Never>?
        /// The bytes that were told last, once anybody has seen the value.
        var told: Data??
    }

    private let state = Locked(State())

    /// For those who read the value.
    let observation = ObservationPoint()

    // `send` and `sink` of a subject may be called from any thread.
    nonisolated(unsafe) private let willChangeSubject = PassthroughSubject<Void, Never>()

    /// Emits before each change.
    var willChange: some Publisher<Void, Never> { willChangeSubject }

    /// Queues a change. The caller makes sure that changes are queued in the order in which they were made.
    func enqueue(_ change: Change) {
        state.withLock { $0.waiting.append(change) }
    }

    /// Tells the changes in the queue, unless somebody is at it already; they then go on with these.
    func deliver() {
        var isFirst = true
        while let change = next(isFirst) {
            isFirst = false
            switch change {
            case .set(let snapshot): tell(snapshot)
            case .reload(let snapshot):
                guard let snapshot = snapshot() else { continue }
                let isNew = state.withLock { state in
                    defer { state.told = .some(state.told ?? snapshot.data) }
                    return state.told.map { $0 != snapshot.data } ?? false
                }
                if isNew { tell(snapshot) }
            }
        }
    }

    private func next(_ isFirst: Bool) -> Change? {
        state.withLock { state in
            if isFirst, state.isDelivering { return nil }
            state.isDelivering = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    private func tell(_ snapshot: Snapshot) {
        willChangeSubject.send()
        observation.willChange()
        let subject = state.withLock { state in
            state.told = .some(snapshot.data)
            return state.subject
        }
        subject?.send(snapshot.value)
        observation.didChange()
    }

    /// Notes that somebody was shown a value.
    ///
    /// - Returns: Whether others were last told another one.
    func show(_ data: Data?) -> Bool {
        state.withLock { state in
            guard let told = state.told else {
                state.told = .some(data)
                return false
            }
            return told != data
        }
    }

    /// A publisher of the current value and then of each change.
    ///
    /// - Parameter current: Reads the value.
    func publisher(_ current: @escaping @Sendable () -> Snapshot) -> AnyPublisher<Value, Never> {
        Deferred {
            let snapshot = current()
            let subject = self.state.withLock { state in
                if let subject = state.subject { return subject }
                let subject = CurrentValueSubject<Value, Never>(snapshot.value)
                state.subject = subject
                state.told = .some(snapshot.data)
                return subject
            }
            // What has changed since the look, or since the last change was told, comes first.
            self.enqueue(.reload(current))
            self.deliver()
            return subject
        }
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
