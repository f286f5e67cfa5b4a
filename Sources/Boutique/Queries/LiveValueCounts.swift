public import Bodega

/// The property wrapper of the `values` of ``LiveValues``, which can be read, observed, and subscribed to as `$values`.
@MainActor
@propertyWrapper
public struct LiveValueCounts<Value: Hashable & Sendable, Item: StorableItem> {
    private let loader: LiveValuesLoader<Value, Item>

    nonisolated init(_ loader: LiveValuesLoader<Value, Item>) { self.loader = loader }

    /// The values, in ascending order.
    public var wrappedValue: [ValueCount<Value>] {
        loader.valuesPoint.access()
        return loader.values
    }

    /// A publisher of the values: once on subscription, then after each change, on the main actor.
    public nonisolated var projectedValue: AnyPublisher<[ValueCount<Value>], Never> {
        ItemsPublisher(source: loader).eraseToAnyPublisher()
    }
}
