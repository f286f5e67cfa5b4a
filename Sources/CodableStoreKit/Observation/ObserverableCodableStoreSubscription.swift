/// What can be ended by a bag: the observation of a store, or something of a program's own.
///
/// ``ObservableCodableStoreSubscription`` is what a store returns.
@preconcurrency
public protocol ObserverableCodableStoreSubscription: Sendable {

    /// Ends the observation. It may be called more than once.
    func unsubscribe()

    /// Lets a bag end the observation when it is released. By default it is added to the bag.
    ///
    /// - Parameter bag: The bag.
    func disposed(by bag: ObserverableCodableStoreSubscriptionBag)
}

extension ObserverableCodableStoreSubscription {
    public func disposed(by bag: ObserverableCodableStoreSubscriptionBag) {
        bag.add(self)
    }
}
