/// One object for each key while the object is in use. It does not keep the objects alive.
package final class SharedObjects<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
    private let state = Locked((objects: [Key: Weak<Object>](), limit: 16))

    /// The number of entries, including those of deallocated objects that were not removed yet.
    var count: Int { state.withLock { $0.objects.count } }

    package init() {}

    /// The object for a key: the one in use, or a new one.
    package func object(for key: Key, orNew new: Object) -> Object {
        // Returned from the closure, because `deinit` of an object may use this type.
        let (object, _) = state.withLock { state -> (Object, [Key: Object]) in
            if let object = state.objects[key]?.object { return (object, [:]) }
            var living: [Key: Object] = [:]
            if state.objects.count >= state.limit {
                // Removes the entries of deallocated objects, at a constant cost for each new object.
                living = state.objects.compactMapValues(\.object)
                state.objects = living.mapValues(Weak.init)
                state.limit = max(16, 2 * living.count)
            }
            state.objects[key] = Weak(new)
            return (new, living)
        }
        return object
    }
}
