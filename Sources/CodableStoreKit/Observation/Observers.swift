import Bodega

/// Who observes the objects of one type in one collection.
final class Observers<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the objects in the calls. One that is not safe to share is handed to its observers by one
    // thread, after the one that saved it has handed it in.

    typealias Call = (ObjectChange<Object>) -> Void

    private final class Observer {
        let call: Call
        // Read and written under the lock of `observers`.
        var isActive = true
        init(_ call: @escaping Call) { self.call = call }
    }

    private let observers = Locked<[Observer]>([])
    private let deliveries: DeliveryQueue

    init(_ deliveries: DeliveryQueue) {
        self.deliveries = deliveries
    }

    /// Whether there is nobody to tell.
    var isEmpty: Bool { observers.withLock { $0.isEmpty } }

    /// Adds an observer of the changes from now on.
    func add(_ call: @escaping Call) -> ObserverableCodableStoreSubscription {
        nonisolated(unsafe) let observer = Observer(call)
        observers.withLock { $0.append(observer) }
        return ObserverableCodableStoreSubscription {
            self.observers.withLock { observers in
                observer.isActive = false
                observers.removeAll { $0 === observer }
            }
        }
    }

    /// Hands in a change, in the order of the changes. Those who observe now are told, if they still observe then.
    ///
    /// - Parameter change: Finds out what has changed, if there is anything to tell; it is called with the delivery.
    func enqueue(_ change: @escaping () -> ObjectChange<Object>?) {
        let observers = observers.withLock { $0 }
        if observers.isEmpty { return }
        nonisolated(unsafe) let told = (observers: observers, change: change)
        deliveries.enqueue {
            guard let change = told.change() else { return }
            for observer in told.observers where self.isActive(observer) { observer.call(change) }
        }
    }

    private func isActive(_ observer: Observer) -> Bool {
        observers.withLock { _ in observer.isActive }
    }
}
