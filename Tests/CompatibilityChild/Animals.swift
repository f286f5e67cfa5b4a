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

/// The section "Store". The store is created outside this function, because in an asynchronous function the same
/// expression calls the asynchronous initializer, as in Boutique. The README creates `Item`s with names and omits `try
/// await` before `removeAll()`.
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
