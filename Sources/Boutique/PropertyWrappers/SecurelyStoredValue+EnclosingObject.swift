#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

extension SecurelyStoredValue {

    /// The value, read through an object that the property belongs to.
    ///
    /// The compiler uses it in place of ``wrappedValue``; there is no need to call it.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each change from
    ///     now on.
    ///   - wrappedKeyPath: The property.
    ///   - storageKeyPath: The wrapper.
    public static subscript<Instance>(
        _enclosingInstance instance: Instance,
        wrapped wrappedKeyPath: KeyPath<Instance, Item?>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Item? {
        instance[keyPath: storageKeyPath].attached(to: instance).wrappedValue
    }

    /// The wrapper, read through an object that the property belongs to.
    ///
    /// The compiler uses it in place of ``projectedValue``; there is no need to call it.
    ///
    /// - Parameters:
    ///   - instance: The object. If it is an `ObservableObject`, its `objectWillChange` fires before each change from
    ///     now on.
    ///   - projectedKeyPath: The projected property.
    ///   - storageKeyPath: The wrapper.
    public static subscript<Instance>(
        _enclosingInstance instance: Instance,
        projected projectedKeyPath: KeyPath<Instance, Self>,
        storage storageKeyPath: ReferenceWritableKeyPath<Instance, Self>
    ) -> Self {
        instance[keyPath: storageKeyPath].attached(to: instance)
    }

    private func attached(to object: Any) -> Self {
        enclosingObject.forward(core.changes, to: object)
        return self
    }
}
