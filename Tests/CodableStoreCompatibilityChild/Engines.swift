import CodableStoreKit

/// The section "Engine".
func useEngines() throws {
    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")
    do {
        // Use the FileSystem Engine
        let codableStore = CodableStore<User>(engine: .fileSystem)
        try codableStore.save(user)
    }
    do {
        // Use the InMemory Engine (perfect for development or testing phase)
        let codableStore = CodableStore<User>(engine: .inMemory)
        print(codableStore.exists(user))
    }
    do {
        // Initialize your Engine with an AnyCodableStoreEngine
        let myEngine = AnyCodableStoreEngine<User>(MyEngine())

        // Initialize a CodableStore with a custom Engine
        let codableStore = CodableStore<User>(engine: .custom(myEngine))

        try codableStore.save(user)
        print(try codableStore.getCollection().count, codableStore.exists(user), try codableStore.delete(user).id)
        print(codableStore.exists(user))
    }
}

/// The section "Custom Engine", whose functions are empty in the README, which doesn't compile.
class MyEngine<Object: BaseCodableStoreable>: CodableStoreEngine {

    struct NotFound: Error {}

    private var objects: [Object.ID: Object] = [:]

    func get(identifier: Object.ID) throws -> Object {
        guard let object = objects[identifier] else { throw NotFound() }
        return object
    }

    func getCollection() throws -> [Object] {
        Array(objects.values)
    }

    func save(_ object: Object) throws -> Object {
        objects[object[keyPath: Object.codableStoreIdentifier]] = object
        return object
    }

    func delete(identifier: Object.ID) throws -> Object {
        let object = try get(identifier: identifier)
        objects[identifier] = nil
        return object
    }

}

/// The section "Container".
func useContainers() throws {
    // Initialize a custom CodableStoreContainer
    let apiV1Container = CodableStoreContainer(name: "APIv1Container")

    // Pass it to the CodableStore initializer
    let codableStore = CodableStore<User>(container: apiV1Container, engine: .fileSystem)

    try codableStore.save(User(id: "42", firstName: "Mr.", lastName: "Robot"))
    print(codableStore.exists(identifier: "42"), CodableStore<User>().exists(identifier: "42"))
    print(CodableStoreContainer.default.name)
}

/// The default container can be changed.
func chooseDefault() throws {
    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")
    try user.save()
    CodableStoreContainer.default.name = "Other"
    print(user.exists(), CodableStore<User>().container.name)
    CodableStoreContainer.default = "Default"
    print(user.exists())
}
