import Boutique
import Foundation

struct Animal: Codable, Sendable, CustomStringConvertible {
    let id: String

    var description: String { id }
}

// Create a Store
let store = Store<Animal>(
    storage: SQLiteStorageEngine.default(appendingPath: "Animals"),
    cacheIdentifier: \.id
)

/// The section "Store". The store is made elsewhere, because in an asynchronous function the same expression means the
/// asynchronous initializer, as it does in Boutique. The README makes `Item`s with names and forgets `try await` before
/// `removeAll()`.
@MainActor
func keepAnimals() async throws {
    // Add an item to the Store
    let redPanda = Animal(id: "red_panda")
    try await store.add(redPanda)

    // Remove an animal from the Store
    try await store.remove(redPanda)

    // Add two more animals to the Store
    let dog = Animal(id: "dog")
    let cat = Animal(id: "cat")
    try await store.add([dog, cat])

    // You can read items directly
    print(store.items)

    // Clear your store by removing all the items at once.
    try await store.removeAll()

    print(store.items)

    // You can even chain commands together
    try await store
        .add(dog)
        .add(cat)
        .run()

    print(store.items)

    // This is a good way to clear stale cached data
    try await store
        .removeAll()
        .add(redPanda)
        .run()

    print(store.items)
}
