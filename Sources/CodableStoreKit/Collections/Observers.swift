import Bodega
import Foundation
import Logging

/// Who observes the objects of one type in one collection.
final class Observers<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the objects in the calls. One that is not safe to share is handed to its observers by one
    // thread, after the one that saved it has handed it in; of an object of a class, each gets a copy.

    typealias Call = (ObjectChange<Object>) -> Void

    private final class Observer {
        let call: Call
        // Read and written under the lock of `observers`.
        var isActive = true
        init(_ call: @escaping Call) { self.call = call }
    }

    private let observers = Locked<[Observer]>([])
    private let place = Locked<(container: CodableStoreContainer, engine: () -> CodableStore<Object>.Engine?)?>(nil)
    private let deliveries: DeliveryQueue
    // Set once; `weak let` needs a newer compiler than the package.
    nonisolated(unsafe) private weak var core: CollectionCore?

    /// Observers of a collection that nobody else can change.
    init(_ deliveries: DeliveryQueue) {
        self.deliveries = deliveries
        core = nil
    }

    /// Observers of a collection that holds these.
    init(_ core: CollectionCore) {
        deliveries = core.deliveries
        self.core = core
    }

    /// Says where the collection is, for those who observe the type everywhere. What the first store says stays.
    func setPlace(_ container: CodableStoreContainer, _ engine: CodableStore<Object>.Engine) {
        place.withLock { place in
            if place == nil { place = (container, engine.unretained) }
        }
    }

    /// Adds an observer of the changes from now on.
    func add(_ call: @escaping Call) -> ObservableCodableStoreSubscription {
        nonisolated(unsafe) let observer = Observer(call)
        observers.withLock { $0.append(observer) }
        core?.beginObservation()
        return ObservableCodableStoreSubscription {
            self.observers.withLock { observers in
                observer.isActive = false
                observers.removeAll { $0 === observer }
            }
            self.core?.endObservation()
        }
    }

    /// Hands in a change of this process, in the order of the changes.
    ///
    /// Objects of a class are not told themselves, because whoever saved or deleted them has them: each observer gets a copy,
    /// made of what is stored.
    ///
    /// - Parameters:
    ///   - change: What has changed.
    ///   - effect: The same in records.
    func enqueue(_ change: ObjectChange<Object>, _ effect: SQLiteEffect) {
        if Object.self is AnyObject.Type { enqueue(effect) } else { enqueue { change } }
    }

    /// Hands in a change, in the order of the changes. Those who observe now are told, if they still observe then.
    ///
    /// - Parameter change: Finds out what has changed, if there is anything to tell; it is called with the delivery, and for
    ///   each observer if the objects are of a class.
    func enqueue(_ change: @escaping () -> ObjectChange<Object>?) {
        let observers = observers.withLock { $0 } + observersOfType()
        if observers.isEmpty { return }
        nonisolated(unsafe) let told = (observers: observers, change: change)
        deliveries.enqueue {
            let isOfClass = Object.self is AnyObject.Type
            var change: ObjectChange<Object>?
            for observer in told.observers where self.isActive(observer) {
                if change == nil || isOfClass { change = told.change() }
                guard let change else { return }
                observer.call(change)
            }
        }
    }

    private func observersOfType() -> [Observer] {
        let observers = TypeObservers.all(of: Object.self)
        guard !observers.isEmpty, let place = place.withLock({ $0 }), let engine = place.engine() else { return [] }
        return observers.map { observer in
            Observer { observer.call(CodableStore<Object>.ObserveEvent($0, place.container, engine)) }
        }
    }

    private func isActive(_ observer: Observer) -> Bool {
        observers.withLock { _ in observer.isActive }
    }
}

extension Observers: RecordObservers {

    func enqueue(_ effect: SQLiteEffect) {
        enqueue {
            switch effect {
            case .written(let key, let data): Self.object(data, key).map { .saved($0) }
            case .removed(let key, let data): Self.object(data, key).map { .deleted($0) }
            }
        }
    }

    private static func object(_ data: Data, _ key: CacheKey) -> Object? {
        do {
            return try Object.codableStoreCoder.decoder.decode(Object.self, from: data)
        } catch {
            codableStoreLogger.error(
                "What was changed is not an object that could be decoded, so nobody is told of it.",
                metadata: ["key": "\(key)", "error": "\(error)"]
            )
            return nil
        }
    }
}
