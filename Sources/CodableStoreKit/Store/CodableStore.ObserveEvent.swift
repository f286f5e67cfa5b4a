extension CodableStore {

    /// A change of an object.
    public enum ObserveEvent {
        /// The object was saved, for the first time or again.
        case saved(object: Object, container: CodableStoreContainer, engine: Engine)
        /// The object was deleted. It is as it was stored.
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

    /// The container of the object.
    public var container: CodableStoreContainer {
        switch self {
        case .saved(_, let container, _), .deleted(_, let container, _): container
        }
    }

    /// The engine of the object.
    public var engine: CodableStore<Object>.Engine {
        switch self {
        case .saved(_, _, let engine), .deleted(_, _, let engine): engine
        }
    }
}

extension CodableStore.ObserveEvent: Sendable where Object: Sendable {}
