import Bodega

/// The observers of all objects of a type, in all containers and engines.
enum TypeObservers {

    private static let lists = Locked<[ObjectIdentifier: any Sendable]>([:])

    private static func list<Object: BaseCodableStoreable>(of type: Object.Type) -> TypeObserverList<Object> {
        lists.withLock { lists in
            if let known = lists[ObjectIdentifier(type)] as? TypeObserverList<Object> { return known }
            let new = TypeObserverList<Object>()
            lists[ObjectIdentifier(type)] = new
            return new
        }
    }

    /// Adds an observer of future changes.
    ///
    /// - Parameters:
    ///   - identity: The identity of the object that is observed, `nil` for all objects.
    ///   - predicate: The condition that an object must satisfy.
    ///   - scheduler: Where the observer is called.
    ///   - call: The observer.
    static func add<Object>(
        of identity: Identity<Object.ID>?,
        where predicate: ((Object) -> Bool)?,
        on scheduler: ObserverScheduler,
        _ call: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        // Several collections may report changes simultaneously.
        let inbox = ObserverInbox(scheduler, call)
        let observer = TypeObserver<Object> { event in
            if predicate?(event.object) ?? true { inbox.add(event) }
        }
        let list = list(of: Object.self)
        nonisolated(unsafe) let identity = identity
        let number = list.observers.withLock { $0.add(observer, of: identity) }
        return ObservableCodableStoreSubscription {
            list.observers.withLock { $0.remove(number, of: identity) }
            inbox.end()
        }
    }

    /// Returns a closure that finds the calls of the current observers for a change in a container of an engine; that
    /// closure returns `nil` if there are none. It does not retain the engine.
    static func calls<Object>(
        in container: CodableStoreContainer,
        of engine: CodableStore<Object>.Engine
    ) -> () -> ((Object) -> [Observers<Object>.Call])? {
        let engine = engine.unretained
        let list = list(of: Object.self)
        return {
            let observers = list.observers.withLock { $0 }
            guard !observers.isEmpty, let engine = engine() else { return nil }
            return { object in
                observers.observers(of: object).map { observer in
                    { observer.call(CodableStore<Object>.ObserveEvent($0, container, engine)) }
                }
            }
        }
    }
}

/// The observers of a type.
private final class TypeObserverList<Object: BaseCodableStoreable>: Sendable {
    let observers = Locked(ObserverList<Object, TypeObserver<Object>>())
}

/// An observer of objects of a type.
private final class TypeObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call; see `ObserverInbox`.

    let call: (CodableStore<Object>.ObserveEvent) -> Void

    init(_ call: @escaping (CodableStore<Object>.ObserveEvent) -> Void) {
        self.call = call
    }
}
