import Boutique
import Foundation

// The snippets of Boutique's README, as programs. They run in a child process because they store data in the user's
// folders, which the environment of the process determines. The argument is the name of a program; it prints the output
// that the README documents.
switch CommandLine.arguments.dropFirst().first {
case "animals": try await keepAnimals()
case "save-images": try await saveImages()
case "print-images": try await printImages()
case "top-level":
    // Top-level code calls the synchronous initializer.
    let store = Store<Animal>(storage: SQLiteStorageEngine.default(appendingPath: "Top"), cacheIdentifier: \.id)
    try await store.itemsHaveLoaded()
    print(store.items)
    try await store.add(Animal(id: "dog"))
default: fatalError("Unknown program: \(CommandLine.arguments)")
}
