import Bodega

/// The subscription of an observer to a store.
///
/// Releasing a subscription does not end the observation. Call ``unsubscribe()``, or add the subscription to an
/// ``ObserverableCodableStoreSubscriptionBag``.
public final class ObservableCodableStoreSubscription: ObserverableCodableStoreSubscription {

    private struct End {
        let run: @Sendable () -> Void
    }

    private let end: Locked<End?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Locked(End(run: end))
    }

    /// Ends the observation. A call of the observer in progress on another thread continues, but no other call begins.
    ///
    /// This method may be called within the observer. Calling it again has no effect.
    public func unsubscribe() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?.run()
    }
}
