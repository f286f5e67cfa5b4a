import Bodega

/// A container of subscriptions that ends them when it is released.
public final class ObserverableCodableStoreSubscriptionBag: Sendable {

    private let subscriptions = Locked<[any ObserverableCodableStoreSubscription]>([])
    private let kept = Locked<(any AnyObject & Sendable)?>(nil)

    /// Creates an empty bag.
    public init() {}

    deinit {
        dispose()
    }

    /// Whether the bag contains no subscription.
    public var isEmpty: Bool { subscriptions.withLock { $0.isEmpty } }

    /// Adds a subscription.
    ///
    /// - Parameter subscription: The subscription to end when the bag is released or disposed of.
    public func add(_ subscription: any ObserverableCodableStoreSubscription) {
        subscriptions.withLock { $0.append(subscription) }
    }

    /// Ends all subscriptions and empties the bag, which can be used again.
    public func dispose() {
        let ended = subscriptions.withLock { subscriptions in
            defer { subscriptions = [] }
            return subscriptions
        }
        for subscription in ended { subscription.unsubscribe() }
    }

    /// An object that the bag retains on behalf of an observer.
    var keepsake: (any AnyObject & Sendable)? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
