import Bodega
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// One subscriber of a store's items.
///
/// It holds no items: what is published is read from the store at the moment of publishing, because a second reference
/// to the array would make the next change copy it.
final class ItemsSubscription<Item: StorableItem>: Subscription, @unchecked Sendable {
    // @unchecked because the subscriber is only called on the main actor, and a lock guards the rest.

    private struct Progress {
        var demand = Subscribers.Demand.none
        /// Whether there is something new that was not asked for yet.
        var isBehind = true
        var isCancelled = false
    }

    private let subscriber: AnySubscriber<[Item], Never>
    private let live: LiveContents<Item>
    private let progress = Locked(Progress())

    init(_ subscriber: AnySubscriber<[Item], Never>, to live: LiveContents<Item>) {
        self.subscriber = subscriber
        self.live = live
    }

    /// Publishes the current items and those to come.
    @MainActor func begin() {
        if progress.withLock({ $0.isCancelled }) { return }
        live.add(self)
        publish()
    }

    /// Publishes the current items if they were asked for, else as soon as they are.
    @MainActor func publish() {
        progress.withLock { $0.isBehind = true }
        publishIfBehind()
    }

    @MainActor private func publishIfBehind() {
        let isWanted = progress.withLock { progress in
            guard progress.isBehind, !progress.isCancelled, progress.demand > .none else { return false }
            progress.isBehind = false
            progress.demand -= 1
            return true
        }
        guard isWanted else { return }
        let more = subscriber.receive(live.contents.items)
        progress.withLock { $0.demand += more }
    }

    func request(_ demand: Subscribers.Demand) {
        progress.withLock { $0.demand += demand }
        // While it begins, nothing is published from here: it is the subscriber who calls.
        onMainActor { if self.live.has(self) { self.publishIfBehind() } }
    }

    func cancel() {
        progress.withLock { $0.isCancelled = true }
        onMainActor { self.live.remove(self) }
    }
}
