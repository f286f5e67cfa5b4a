import Bodega

/// The objects that a controller shows.
@MainActor
final class ControllerObjects<Object: BaseCodableStoreable> {

    private let store: CodableStore<Object>
    private weak var controller: (any CodableStoreControllerable<Object>)?
    private let inbox = EventInbox<Object>()
    private var loaded: ObjectList<Object>?
    private var isApplying = false

    init(of store: CodableStore<Object>, for controller: some CodableStoreControllerable<Object>) {
        self.store = store
        self.controller = controller
    }

    /// Follows the store's collection as long as the bag lets it.
    func follow(until bag: ObserverableCodableStoreSubscriptionBag) {
        let inbox = inbox
        store.observeCollection { [weak self] event in
            inbox.add(event)
            onMainActor { self?.applyEvents() }
        }.disposed(by: bag)
    }

    /// The objects, read if that has not succeeded yet.
    var all: [Object] {
        load()
        return loaded?.objects ?? []
    }

    private func load() {
        if loaded != nil { return }
        do {
            // It may hold changes already whose events are still to come. These change nothing a second time.
            loaded = ObjectList(try store.getCollection())
        } catch {
            controller?.codableStoreablesDidFail(error)
        }
    }

    private func applyEvents() {
        // A hook that saves something comes back here. Its change follows when this one has been shown.
        if isApplying { return }
        isApplying = true
        defer { isApplying = false }
        while let event = inbox.next() { apply(event) }
    }

    private func apply(_ event: CodableStore<Object>.ObserveEvent) {
        load()
        guard let controller, var next = loaded else { return }
        next.apply(event)
        controller.codableStoreablesWillUpdate(event: event, codableStoreables: next.objects)
        loaded = next
        controller.codableStoreablesDidUpdate(event: event, codableStoreables: next.objects)
    }
}
