import Bodega

/// The property wrapper of a query's `sections`, which can be read, observed, and subscribed to as `$sections`.
@MainActor
@propertyWrapper
public struct LiveQuerySections<Value: Hashable & Sendable, Item: StorableItem> {
    private let model: LiveQueryModel<Item>

    nonisolated init(_ model: LiveQueryModel<Item>) { self.model = model }

    /// The sections, in the order of their first items.
    public var wrappedValue: [LiveSection<Value, Item>] {
        model.itemsPoint.access()
        return Self.sections(of: model)
    }

    /// A publisher of the sections: once on subscription, then after each change, on the main actor.
    public nonisolated var projectedValue: AnyPublisher<[LiveSection<Value, Item>], Never> {
        ItemsPublisher(source: model)
            .map { [model] _ in MainActor.assumeIsolated { Self.sections(of: model) } }
            .eraseToAnyPublisher()
    }

    private static func sections(of model: LiveQueryModel<Item>) -> [LiveSection<Value, Item>] {
        (model.contents.sections as? SectionList<Value, Item>)?.sections ?? []
    }
}
