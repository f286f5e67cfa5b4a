import Bodega

/// The objects that a controller shows.
///
/// 1. An observer on the scheduler `immediate` adds each event to `inbox`, on the thread that delivers it, and
///    schedules `applyEvents` on the main actor. On the main thread, that runs immediately.
/// 2. `applyEvents` removes the events in order and applies them to `list`, calling the hooks of the controller. An
///    event that arrives during a hook waits until the hook has returned.
/// 3. The first use reads all objects, after noting the number of the last event in the inbox. Events up to that number
///    are included in the objects read. They are reported to the hooks but not applied to the list.
///
/// The main actor guards all state except `inbox`, which has a lock.
@MainActor
final class ControllerObjects<Object: BaseCodableStoreable> {

    private let store: CodableStore<Object>
    private weak var controller: (any CodableStoreControllerable<Object>)?
    private weak var bag: ObserverableCodableStoreSubscriptionBag?
    private var subscription: ObservableCodableStoreSubscription?
    private let inbox = EventInbox<Object>()
    private var list: ObjectList<Object>?
    // Set while the controller's will-update hook runs: the change, and, once the hook has used them, a copy of the
    // objects before it. At other times, the list has the only reference to its array, so a change does not copy it.
    private var upcoming: (change: ObjectList<Object>.Change, objectsBefore: [Object]?)?
    // The last event that was certainly included in the objects when they were read.
    private var includedNumber = 0
    private var isApplying = false
    private var hasFailed = false

    init(of store: CodableStore<Object>, for controller: some CodableStoreControllerable<Object>) {
        self.store = store
        self.controller = controller
    }

    /// Observes the store's collection until the bag ends the observation.
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

    /// The objects. They are read if that has not succeeded yet.
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
        // A collection that could not be opened may not be observed either.
        if hasFailed, let bag { follow(until: bag) }
        do {
            // Changes are durable before their events arrive, so those in the inbox are included. Later ones may be
            // included, but applying all of them again leads to the same objects.
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
        // A hook that saves an object re-enters this method. Its change is applied after the current one.
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
