import Bodega

/// Ends observations when it is released.
public final class ObserverableCodableStoreSubscriptionBag: Sendable {

    private let subscriptions = Locked<[any ObserverableCodableStoreSubscription]>([])
    private let kept = Locked<(any AnyObject & Sendable)?>(nil)

    /// Creates an empty bag.
    public init() {}

    deinit {
        dispose()
    }

    /// Whether there is no observation in it.
    public var isEmpty: Bool { subscriptions.withLock { $0.isEmpty } }

    /// Adds an observation, to be ended with the bag.
    ///
    /// - Parameter subscription: The observation.
    public func add(_ subscription: any ObserverableCodableStoreSubscription) {
        subscriptions.withLock { $0.append(subscription) }
    }

    /// Ends the observations now. The bag can be used again.
    public func dispose() {
        let ended = subscriptions.withLock { subscriptions in
            defer { subscriptions = [] }
            return subscriptions
        }
        for subscription in ended { subscription.unsubscribe() }
    }

    /// What lives as long as the bag, for what observes.
    var keepsake: (any AnyObject & Sendable)? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
