import Bodega

/// An observation that can be ended.
///
/// Letting go of it does not end the observation; ``unsubscribe()`` or a ``ObserverableCodableStoreSubscriptionBag`` does.
public final class ObservableCodableStoreSubscription: ObserverableCodableStoreSubscription {

    private let end: Locked<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Locked(end)
    }

    /// Ends the observation. A call of the observer that is under way on another thread goes on; no other begins.
    ///
    /// It may be called from within the observer, and more than once.
    public func unsubscribe() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
