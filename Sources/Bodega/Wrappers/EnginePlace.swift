/// Where an item lies beneath all wrappers.
package struct EnginePlace: Hashable, Sendable {
    /// The innermost engine, which is an object.
    package let engine: ObjectIdentifier
    /// The key under which it has the item.
    package let key: CacheKey
}

extension StorageBackend {
    /// Where the item of a key lies beneath all wrappers; `nil` if the innermost engine is not an object.
    package func place(of key: CacheKey) -> EnginePlace? {
        switch self {
        case let wrapper as any ForwardingStorageEngine: return wrapper.base.place(of: key)
        case let wrapper as any TransformingStorageEngine: return wrapper.base.place(of: wrapper.storedKey(key))
        default:
            let engine = (self as? AdaptedEngine)?.engine ?? self
            guard type(of: engine) is AnyClass else { return nil }
            return EnginePlace(engine: ObjectIdentifier(engine as AnyObject), key: key)
        }
    }
}
