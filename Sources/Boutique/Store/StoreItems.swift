import Bodega
#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// What makes `items` a property that can be read, observed, and subscribed to as `$items`.
@MainActor
@propertyWrapper
public struct StoreItems<Item: StorableItem> {
    let model: StoreModel<Item>

    nonisolated init(_ model: StoreModel<Item>) {
        self.model = model
    }

    /// All items, in insertion order.
    public var wrappedValue: [Item] {
        model.reportEarlyReading()
        return model.items
    }

    /// Publishes all items, once when subscribed and then after each change.
    public nonisolated var projectedValue: Publisher { Publisher(model: model) }

    /// Publishes the items of a store.
    ///
    /// A subscriber gets all items when it subscribes, and again after each change, on the main actor. One that asks for
    /// less than is published gets the latest when it asks again.
    public struct Publisher: Sendable {
        fileprivate let model: StoreModel<Item>
    }
}

// Not beside the type, where its name would hide the protocol's.
#if canImport(Combine)
extension StoreItems.Publisher: Combine.Publisher {}
#else
extension StoreItems.Publisher: OpenCombine.Publisher {}
#endif

extension StoreItems.Publisher {
    /// All items, in insertion order.
    public typealias Output = [Item]

    /// It never fails.
    public typealias Failure = Never

    /// Begins to publish to a subscriber.
    ///
    /// - Parameter subscriber: The subscriber, which is called on the main actor.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == [Item], S.Failure == Never {
        let subscription = ItemsSubscription(AnySubscriber(subscriber), to: model)
        subscriber.receive(subscription: subscription)
        onMainActor { subscription.begin() }
    }
}
