import Bodega

/// The collections of custom engines that are objects, so that all who wrap one engine share its lock and its observers.
enum CustomCollections {

    private struct WeakCollection: Sendable {
        // Set once; `weak let` needs a newer compiler than the package.
        nonisolated(unsafe) weak var collection: (any AnyObject & Sendable)?
    }

    private static let known = Locked<[ObjectIdentifier: WeakCollection]>([:])

    /// The collection of an engine. An engine that is a value has a new one each time, as copies of it are engines of their
    /// own.
    static func collection<Engine: CodableStoreEngine>(of engine: Engine) -> CustomCollection<Engine.Object> {
        if let wrapped = engine as? AnyCodableStoreEngine<Engine.Object> { return wrapped.collection }
        guard Engine.self is AnyObject.Type else { return CustomCollection(engine) }
        // Unique while the collection lives, because that keeps the engine.
        let identity = ObjectIdentifier(engine as AnyObject)
        return known.withLock { known in
            if let collection = known[identity]?.collection as? CustomCollection<Engine.Object> { return collection }
            let collection = CustomCollection<Engine.Object>(engine)
            // Those that are gone leave their entries, which are few.
            known = known.filter { $0.value.collection != nil }
            known[identity] = WeakCollection(collection: collection)
            return collection
        }
    }
}
