/// A subscription that an ``ObserverableCodableStoreSubscriptionBag`` can end.
///
/// Stores return an ``ObservableCodableStoreSubscription``. A program can add its own conforming types to a bag.
@preconcurrency
public protocol ObserverableCodableStoreSubscription: Sendable {

    /// Ends the observation. Calling it again has no effect.
    func unsubscribe()

    /// Lets a bag end the observation when it is released. The default implementation adds the subscription to the bag.
    ///
    /// - Parameter bag: The bag.
    func disposed(by bag: ObserverableCodableStoreSubscriptionBag)
}

extension ObserverableCodableStoreSubscription {
    public func disposed(by bag: ObserverableCodableStoreSubscriptionBag) {
        bag.add(self)
    }
}
