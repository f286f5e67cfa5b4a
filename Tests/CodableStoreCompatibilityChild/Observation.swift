import CodableStoreKit

/// The section "Observation".
func observeStore() throws {
    // Initialize a CodableStore
    let codableStore = CodableStore<User>()

    // Observe save and delete of Users where lastName contains "Robot"
    let subscription = codableStore.observe(where: { $0.lastName.contains("Robot") }) { event in
        switch event {
        case .saved(object: let object, container: let container, engine: let engine):
            print("saved", object.id, container.name, engine.isFileSystem)
            break
        case .deleted(object: let object, container: let container, engine: let engine):
            print("deleted", object.id, container.name, engine.isFileSystem)
            break
        }
    }

    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")
    try user.save()
    try User(id: "43", firstName: "Elliot", lastName: "Alderson").save()
    try user.delete()

    // Manually invoke unsubscribe
    subscription.unsubscribe()

    try user.save()

    var object: MyCustomClass? = MyCustomClass()
    try user.save()
    object = nil
    try user.save()
    _ = object
}

/// The README has a space before the bag's name, which doesn't compile.
class MyCustomClass {

    /// The SubscriptionBag
    let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// Designated Initializer
    init() {
        // Observe all Users and dispose it by SubscriptionBag
        User.observeCollection { event in
            print("observed", event.object.id)
        }.disposed(
            // Automatically unsubscribe on deinit
            by: self.subscriptionBag
        )
    }

}

extension CodableStore.Engine {
    fileprivate var isFileSystem: Bool {
        if case .fileSystem = self { return true } else { return false }
    }
}

/// The section "Access-Control". The types show the access of each view.
func narrowStore() throws {
    let codableStore = CodableStore<User>()

    // Write-Only CodableStore
    let writeableCodableStore = codableStore.writeable

    // Read-Only CodableStore
    let readableCodableStore = codableStore.readable

    // Observe-Only CodableStore
    let observableCodableStore = codableStore.observable

    // Copy-Only CodableStore
    let copyableCodableStore = codableStore.copyable

    let views:
        (
            AnyWriteableCodableStore<User>, AnyReadableCodableStore<User>, AnyObserverableCodableStore<User>,
            AnyCopyableCodableStore<User>
        ) = (writeableCodableStore, readableCodableStore, observableCodableStore, copyableCodableStore)

    let subscription = views.2.observe(identifier: "42") { print("observed", $0.object.id) }
    try views.0.save(User(id: "42", firstName: "Mr.", lastName: "Robot"))
    print(try views.1.get(identifier: "42").lastName)
    print(try views.3.copy(toContainer: "Copies").count, try User.getCollection(container: "Copies").count)
    subscription.unsubscribe()
}
