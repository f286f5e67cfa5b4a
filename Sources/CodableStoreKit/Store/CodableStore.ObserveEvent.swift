extension CodableStore {

    /// What happened to an object.
    public enum ObserveEvent {
        /// It was saved: for the first time or again.
        case saved(object: Object, container: CodableStoreContainer, engine: Engine)
        /// It was deleted. The object is as it was stored.
        case deleted(object: Object, container: CodableStoreContainer, engine: Engine)
    }
}

extension CodableStore.ObserveEvent {
    /// The object that was saved or deleted.
    public var object: Object {
        switch self {
        case .saved(let object, _, _), .deleted(let object, _, _): object
        }
    }

    /// The container in which it happened.
    public var container: CodableStoreContainer {
        switch self {
        case .saved(_, let container, _), .deleted(_, let container, _): container
        }
    }

    /// The engine in which it happened.
    public var engine: CodableStore<Object>.Engine {
        switch self {
        case .saved(_, _, let engine), .deleted(_, _, let engine): engine
        }
    }
}

extension CodableStore.ObserveEvent: Sendable where Object: Sendable {}
