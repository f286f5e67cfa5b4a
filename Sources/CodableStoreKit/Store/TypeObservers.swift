import Bodega

/// The observers of all objects of a type, in all containers and engines.
enum TypeObservers {

    private static let observers = Locked<[ObjectIdentifier: [any AnyObject & Sendable]]>([:])

    /// Adds an observer of future changes.
    static func add<Object>(
        where predicate: @escaping (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ call: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        // Several collections may report changes simultaneously.
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

    /// Returns a closure that returns the calls of the current observers for a change in a container of an engine. It
    /// does not retain the engine.
    static func calls<Object>(
        in container: CodableStoreContainer,
        of engine: CodableStore<Object>.Engine
    ) -> () -> [Observers<Object>.Call] {
        let engine = engine.unretained
        return {
            let observers = observers.withLock { $0[ObjectIdentifier(Object.self)] } ?? []
            guard !observers.isEmpty, let engine = engine() else { return [] }
            return observers.compactMap { $0 as? TypeObserver<Object> }.map { observer in
                { observer.call(CodableStore<Object>.ObserveEvent($0, container, engine)) }
            }
        }
    }
}

/// An observer of all objects of a type.
private final class TypeObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call; see `ObserverInbox`.

    let call: (CodableStore<Object>.ObserveEvent) -> Void

    init(_ call: @escaping (CodableStore<Object>.ObserveEvent) -> Void) {
        self.call = call
    }
}
