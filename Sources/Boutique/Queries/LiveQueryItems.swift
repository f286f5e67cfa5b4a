import Bodega

/// The property wrapper of a query's `items`, which can be read, observed, and subscribed to as `$items`.
@MainActor
@propertyWrapper
public struct LiveQueryItems<Item: StorableItem> {
    let model: LiveQueryModel<Item>

    nonisolated init(_ model: LiveQueryModel<Item>) {
        self.model = model
    }

    /// The items, in the order of the query.
    public var wrappedValue: [Item] { model.items }

    /// A publisher of the items: once on subscription, then after each change, on the main actor.
    public nonisolated var projectedValue: AnyPublisher<[Item], Never> {
        ItemsPublisher(source: model).eraseToAnyPublisher()
    }
}
