import Bodega
import Foundation
import Logging

/// The observers of the objects of one type in one collection.
///
/// A change reaches an observer in these steps:
///
/// 1. A writer commits, or the follower of foreign changes reads them. While the lock that orders the collection's
///    changes is held, it calls `enqueue`, which copies the list of observers and hands a call to `deliveries`.
/// 2. A thread that ends an operation makes that call, holding no lock; see ``DeliveryQueue``.
/// 3. The call passes the change to each of the copied observers of its object that is still active.
///
/// The lock of `observers` guards the list and the `isActive` of each observer. Unsubscribing sets `isActive` under
/// that lock, so no call of the observer begins afterwards.
final class Observers<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because the calls take objects that may not be Sendable. The thread that saves such an object hands it
    // in, and one thread passes it to the observers after that. Of an instance of a class, each observer gets a copy.

    typealias Call = (ObjectChange<Object>) -> Void

    private final class Observer {
        let call: Call
        // Guarded by the lock of `observers`.
        var isActive = true
        init(_ call: @escaping Call) { self.call = call }
    }

    /// Finds the observers of the type in all collections.
    private struct TypeObserverSearch {
        let calls: () -> ((Object) -> [Call])?
    }

    private let observers = Locked(ObserverList<Object, Observer>())
    private let typeObservers = Locked<TypeObserverSearch?>(nil)
    private let deliveries: DeliveryQueue
    private let core: Weak<CollectionCore>?

    /// - Parameters:
    ///   - deliveries: The queue that calls the observers.
    ///   - core: The collection that holds these observers, `nil` if it has no foreign changes to follow.
    init(_ deliveries: DeliveryQueue, of core: CollectionCore? = nil) {
        self.deliveries = deliveries
        self.core = core.map { Weak($0) }
    }

    /// Connects the observers of the type in all collections. Only the first call has an effect.
    ///
    /// - Parameter find: Returns what finds the calls of those observers for a change of an object in this collection;
    ///   `nil` if there are none.
    func setTypeObservers(_ find: @autoclosure () -> () -> ((Object) -> [Call])?) {
        typeObservers.withLock { if $0 == nil { $0 = TypeObserverSearch(calls: find()) } }
    }

    /// Adds an observer of future changes.
    ///
    /// - Parameters:
    ///   - identity: The identity of the object that is observed, `nil` for all objects.
    ///   - call: The closure to call with each change.
    func add(of identity: Identity<Object.ID>?, _ call: @escaping Call) -> ObservableCodableStoreSubscription {
        nonisolated(unsafe) let (observer, identity) = (Observer(call), identity)
        let number = observers.withLock { $0.add(observer, of: identity) }
        core?.object?.beginObservation()
        return ObservableCodableStoreSubscription {
            self.observers.withLock { observers in
                observer.isActive = false
                observers.remove(number, of: identity)
            }
            self.core?.object?.endObservation()
        }
    }

    /// Enqueues a change made by this process.
    ///
    /// The caller that saved or deleted an instance of a class still has it. So each observer gets a copy, decoded from
    /// the record.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - effect: Its effect on the records.
    func enqueue(_ change: ObjectChange<Object>, _ effect: RecordEffect) {
        if Object.self is AnyObject.Type { enqueue(effect) } else { enqueue { change } }
    }

    /// Enqueues a change for the current observers. Those that are still active when it is delivered are called.
    ///
    /// - Parameter change: Returns the change, or `nil` if there is nothing to report. It is called upon delivery, and
    ///   once for each observer if `Object` is a class.
    func enqueue(_ change: @escaping () -> ObjectChange<Object>?) {
        let ofType = typeObservers.withLock { $0 }?.calls()
        let observers = observers.withLock { $0 }
        if observers.isEmpty, ofType == nil { return }
        nonisolated(unsafe) let delivery = (observers: observers, ofType: ofType, change: change)
        deliveries.enqueue {
            guard let first = delivery.change() else { return }
            let ofType = delivery.ofType?(first.object) ?? []
            var copy: ObjectChange<Object>? = first
            for observer in delivery.observers.observers(of: first.object) + ofType.map(Observer.init)
            where self.isActive(observer) {
                guard let change = copy ?? delivery.change() else { return }
                if Object.self is AnyObject.Type { copy = nil }
                observer.call(change)
            }
        }
    }

    private func isActive(_ observer: Observer) -> Bool {
        observers.withLock { _ in observer.isActive }
    }
}

extension Observers: RecordObservers {

    func enqueue(_ effect: RecordEffect) {
        enqueue {
            switch effect {
            case .written(let key, let data): Self.object(data, key).map { .saved($0) }
            case .removed(let key, let data): Self.object(data, key).map { .deleted($0) }
            }
        }
    }

    private static func object(_ data: Data, _ key: CacheKey) -> Object? {
        do {
            return try Codec<Object>().decode(data, key)
        } catch {
            codableStoreLogger.error(
                "Observers are not notified of a change, because the record cannot be decoded.",
                metadata: ["key": "\(key)", "error": "\(error)"]
            )
            return nil
        }
    }
}
