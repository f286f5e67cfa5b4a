import Bodega

/// The objects that a controller shows.
@MainActor
final class ControllerObjects<Object: BaseCodableStoreable> {

    private let store: CodableStore<Object>
    private weak var controller: (any CodableStoreControllerable<Object>)?
    private weak var bag: ObserverableCodableStoreSubscriptionBag?
    private var subscription: ObservableCodableStoreSubscription?
    private let inbox = EventInbox<Object>()
    private var list: ObjectList<Object>?
    // Only while the controller's will-update hook runs: the change, and a copy of the objects before it, if the hook has
    // used them. At any other time the list has the only reference to its array, so that a change does not copy it.
    private var upcoming: (change: ObjectList<Object>.Change, objectsBefore: [Object]?)?
    // The last event whose change was certainly in the objects when they were read.
    private var includedNumber = 0
    private var isApplying = false
    private var hasFailed = false

    init(of store: CodableStore<Object>, for controller: some CodableStoreControllerable<Object>) {
        self.store = store
        self.controller = controller
    }

    /// Follows the store's collection as long as the bag lets it.
    func follow(until bag: ObserverableCodableStoreSubscriptionBag) {
        self.bag = bag
        subscription?.unsubscribe()
        let inbox = inbox
        let new = store.observeCollection(on: .immediate) { [weak self] event in
            inbox.add(event)
            onMainActor { self?.applyEvents() }
        }
        new.disposed(by: bag)
        subscription = new
    }

    /// The objects, read if that has not succeeded yet.
    var all: [Object] {
        load()
        guard let list else { return [] }
        guard let upcoming else { return list.objects }
        let objects = upcoming.objectsBefore ?? list.objects(before: upcoming.change)
        self.upcoming?.objectsBefore = objects
        return objects
    }

    private func load() {
        if list != nil { return }
        // What could not be opened could not be observed either.
        if hasFailed, let bag { follow(until: bag) }
        do {
            // Changes are durable before their events come, so those in the inbox are included. Later ones may be; applied
            // once more, all of them together lead to the same.
            let number = inbox.lastNumber
            list = ObjectList(try store.getCollection())
            includedNumber = number
            hasFailed = false
        } catch {
            hasFailed = true
            controller?.codableStoreablesDidFail(error)
        }
    }

    private func applyEvents() {
        // A hook that saves something comes back here. Its change follows when this one has been shown.
        if isApplying { return }
        isApplying = true
        defer { isApplying = false }
        while let (number, event) = inbox.next() { apply(event, number) }
    }

    private func apply(_ event: CodableStore<Object>.ObserveEvent, _ number: Int) {
        load()
        guard let controller, list != nil else { return }
        let change = number > includedNumber ? list?.apply(event) : nil
        let objects = list?.objects ?? []
        upcoming = change.map { ($0, nil) }
        controller.codableStoreablesWillUpdate(event: event, codableStoreables: objects)
        upcoming = nil
        controller.codableStoreablesDidUpdate(event: event, codableStoreables: objects)
    }
}
