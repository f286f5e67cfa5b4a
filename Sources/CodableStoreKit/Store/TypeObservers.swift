import Bodega

/// The observers of all objects of a type, in all containers and engines.
enum TypeObservers {

    private static let observers = Locked<[ObjectIdentifier: [any AnyObject & Sendable]]>([:])

    /// Adds an observer of the changes from now on.
    static func add<Object>(
        where predicate: @escaping (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ call: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        // Changes of several collections come at the same time.
        let inbox = ObserverInbox(scheduler, call)
        let observer = TypeObserver<Object> { event in
            if predicate(event.object) { inbox.add(event) }
        }
        let type = ObjectIdentifier(Object.self)
        observers.withLock { $0[type, default: []].append(observer) }
        return ObservableCodableStoreSubscription {
            observers.withLock { observers in
                observers[type]?.removeAll { $0 === observer }
                if observers[type]?.isEmpty == true { observers[type] = nil }
            }
            inbox.end()
        }
    }

    /// The observers of a type.
    static func all<Object>(of type: Object.Type) -> [TypeObserver<Object>] {
        observers.withLock { $0[ObjectIdentifier(type)] }?.compactMap { $0 as? TypeObserver<Object> } ?? []
    }
}

/// An observer of all objects of a type.
final class TypeObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call, which `ObserverInbox` answers for.

    let call: (CodableStore<Object>.ObserveEvent) -> Void

    init(_ call: @escaping (CodableStore<Object>.ObserveEvent) -> Void) {
        self.call = call
    }
}
