import CodableStoreKit

/// The section "Usage". Its `case .saved(let object, let container)` has two values where the section "Observation" has
/// three; Swift accepts only the number of the case's values, three. This code has three and is otherwise unchanged.
func useStore() throws {
    // Initialize a User CodableStore
    let codableStore = CodableStore<User>()

    // Initialize User
    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")

    // Save / Update
    try codableStore.save(user)

    // Delete
    try codableStore.delete(user)

    print(codableStore.exists(user))

    // Observe
    codableStore.observe(user) { (event) in
        switch event {
        case .saved(let object, let container, _):
            print("saved", object.firstName, container.name)
            break
        case .deleted(let object, let container, _):
            print("deleted", object.firstName, container.name)
            break
        }
    }

    // Or use the convenience functions on your CodableStoreable type
    try user.save()

    // Get
    let retrievedUser = try codableStore.get(identifier: "42")

    // Exists
    let userExists = codableStore.exists(user)

    print(retrievedUser.lastName, userExists)
}

/// Reads the objects of the program above in another process.
func findAfterRelaunch() throws {
    let codableStore = CodableStore<User>()
    print(try codableStore.getCollection().map { $0.lastName })
    // The section "Collection". A type has a custom name only if it declares one.
    print(User.codableStoreCollectionName)  // User.Type
}
