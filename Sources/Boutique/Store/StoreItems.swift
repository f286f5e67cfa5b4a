import Bodega

/// The property wrapper of a store's `items`, which can be read, observed, and subscribed to as `$items`.
@MainActor
@propertyWrapper
public struct StoreItems<Item: StorableItem> {
    let model: StoreModel<Item>

    nonisolated init(_ model: StoreModel<Item>) {
        self.model = model
    }

    /// All items, in insertion order.
    public var wrappedValue: [Item] {
        model.reportEarlyRead()
        return model.items
    }

    /// A publisher of all items: once on subscription, then after each change.
    public nonisolated var projectedValue: Publisher { Publisher(source: model) }

    /// A publisher of the items of a store.
    ///
    /// A subscriber receives all items when it subscribes and again after each change, on the main actor. If its demand
    /// is used up, it receives the latest items when it requests more. The publisher finishes when the store is
    /// deallocated.
    public struct Publisher: Sendable {
        let source: any ItemsSource<Item>
    }
}

// In extensions, because inside the type its own name hides the protocol's.
#if canImport(Combine)
extension StoreItems.Publisher: Combine.Publisher {}
#else
extension StoreItems.Publisher: OpenCombine.Publisher {}
#endif

extension StoreItems.Publisher {
    /// All items, in insertion order.
    public typealias Output = [Item]

    /// The publisher never fails.
    public typealias Failure = Never

    /// Starts publishing to a subscriber.
    ///
    /// - Parameter subscriber: The subscriber. Its methods are called on the main actor.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == [Item], S.Failure == Never {
        ItemsPublisher(source: source).receive(subscriber: subscriber)
    }
}
