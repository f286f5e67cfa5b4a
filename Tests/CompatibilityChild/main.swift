import Boutique
import Foundation

// The snippets of Boutique's README, as programs. They run in this process because they keep their data in the user's
// folders, and its environment says where these are. The argument is the name of a program; its output is what the
// README says that it prints.
switch CommandLine.arguments.dropFirst().first {
case "animals": try await keepAnimals()
case "save-images": try await saveImages()
case "print-images": try await printImages()
case "top-level":
    // Top-level code makes a store by the initializer that need not be awaited.
    let store = Store<Animal>(storage: SQLiteStorageEngine.default(appendingPath: "Top"), cacheIdentifier: \.id)
    try await store.itemsHaveLoaded()
    print(store.items)
    try await store.add(Animal(id: "dog"))
default: fatalError("No such program: \(CommandLine.arguments)")
}
