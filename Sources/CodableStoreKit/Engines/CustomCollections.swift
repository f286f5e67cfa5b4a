import Bodega

/// The collections of custom engines that are objects. All wrappers of one engine share its lock and its observers.
enum CustomCollections {

    private static let known = Locked<[ObjectIdentifier: Weak<any AnyObject & Sendable>]>([:])

    /// Returns the collection of an engine. An engine that is a value has a new one each time, because copies of it are
    /// separate engines.
    static func collection<Engine: CodableStoreEngine>(of engine: Engine) -> CustomCollection<Engine.Object> {
        if let wrapped = engine as? AnyCodableStoreEngine<Engine.Object> { return wrapped.collection }
        guard Engine.self is AnyObject.Type else { return CustomCollection(engine) }
        // Unique while the collection lives, because it retains the engine.
        let identity = ObjectIdentifier(engine as AnyObject)
        return known.withLock { known in
            if let collection = known[identity]?.object as? CustomCollection<Engine.Object> { return collection }
            let collection = CustomCollection<Engine.Object>(engine)
            // Remove the few entries whose collections are gone.
            known = known.filter { $0.value.object != nil }
            known[identity] = Weak(collection)
            return collection
        }
    }
}
