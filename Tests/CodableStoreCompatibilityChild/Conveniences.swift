import CodableStoreKit

/// The section "CodableStoreable".
func useConveniences() throws {
    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")
    let myContainer: CodableStoreContainer = "Mine"

    // Save / Update
    try user.save()

    // Save in different container
    try user.save(container: myContainer)

    try user.save(engine: .inMemory)

    do {
        // Get
        let retrievedUser = try User.get(identifier: "42")
        print(retrievedUser.id)
    }
    do {
        // Get from different Container
        let retrievedUser = try User.get(identifier: "42", container: myContainer)
        print(retrievedUser.id)
    }

    // Delete
    try user.delete()

    // Delete in different Engine
    try user.delete(engine: .inMemory)

    print(user.exists(), user.exists(engine: .inMemory), user.exists(container: myContainer))

    // User Array
    var users: [User] = .init()
    users.append(user)

    // Save all Users
    users.save()

    // Get Users collection
    let allUsers = try User.getCollection()
    print(allUsers.map { $0.id })

    // Delete all Users
    users.delete()

    print(try User.getCollection().count)
}
