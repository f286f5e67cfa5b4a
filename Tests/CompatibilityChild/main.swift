import Boutique
import Foundation

// The snippets of Boutique's README, as programs. They run in this process because they keep their data in the user's
// folders, which the process's environment determines. The argument is the name of a program, which prints what the
// README says.
switch CommandLine.arguments.dropFirst().first {
case "animals": try await keepAnimals()
case "save-images": try await saveImages()
case "print-images": try await printImages()
case "top-level":
    // Top-level code makes a store with the synchronous initializer.
    let store = Store<Animal>(storage: SQLiteStorageEngine.default(appendingPath: "Top"), cacheIdentifier: \.id)
    try await store.itemsHaveLoaded()
    print(store.items)
    try await store.add(Animal(id: "dog"))
default: fatalError("No such program: \(CommandLine.arguments)")
}
