import Bodega

/// The open collections of a place, by their names or paths: the recently used ones, and all that are in use.
///
/// A store is often created for a single operation, so a collection stays open for a while without one. It does not
/// stay for good, as there may be very many.
///
/// Collections that were used since a number of others were, are in `young`. When `young` is full, they become the
/// `old` ones, and the former old ones are only referenced weakly. A collection that is used returns to `young`.
struct RecentCores<Name: Hashable & Sendable>: Sendable {

    /// The number of collections after which those that were not used are released; at most twice as many stay.
    static var capacity: Int { 128 }

    private var young: [Name: CollectionCore] = [:]
    private var old: [Name: CollectionCore] = [:]
    private var others: [Name: Weak<CollectionCore>] = [:]

    /// Returns an open collection.
    subscript(name: Name) -> CollectionCore? { young[name] ?? old[name] ?? others[name]?.object }

    /// Notes that a collection is used.
    ///
    /// - Returns: Collections to release after the place's lock.
    mutating func use(_ core: CollectionCore, as name: Name) -> [CollectionCore] {
        if young.updateValue(core, forKey: name) != nil { return [] }
        others[name] = nil
        guard young.count >= Self.capacity else { return [] }
        let former = old.filter { young[$0.key] == nil }
        (old, young) = (young, [:])
        others = others.filter { $0.value.object != nil }
        for (name, core) in former {
            if core.mustStay { young[name] = core } else { others[name] = Weak(core) }
        }
        return Array(former.values)
    }
}
