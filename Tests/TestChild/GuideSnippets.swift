import Boutique
import Foundation

// The snippets of the guides for migrants. They run in this process because its environment says where the user's
// folders are. A test compares them with the guides, line by line.

/// Runs the snippets of the guides in a folder that contains `notes.json` and `dogs.json`.
@MainActor
func runGuideSnippets(_ arguments: [String]) async throws {
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    try useSettings()
    try await useNotes(in: folder)
    try await useDogs(in: folder)
}

@MainActor
private func useSettings() throws {
    guard let defaults = UserDefaults(suiteName: "former-settings") else { fatalError("no user defaults") }
    defaults.set(20, forKey: "fontSize")
    defaults.set(["a", "b"], forKey: "recentFiles")
    say("\(UserDefaultsGuide.Settings(takingOver: defaults).fontSize)")
    // The next launch, after a change.
    let settings = UserDefaultsGuide.Settings(takingOver: defaults)
    settings.fontSize += 1
    let relaunched = UserDefaultsGuide.Settings(takingOver: defaults)
    let isGone = defaults.object(forKey: "fontSize") == nil && defaults.object(forKey: "recentFiles") == nil
    say("\(relaunched.fontSize) \(relaunched.recentFiles) \(isGone)")
}

@MainActor
private func useNotes(in folder: URL) async throws {
    let store = try await JSONFilesGuide.openNotes(in: folder)
    say("\(store.items.map(\.text))")
    try await store.remove(id: "1")
    let reopened = try await JSONFilesGuide.openNotes(in: folder)
    say("\(reopened.items.map(\.text))")
}

@MainActor
private func useDogs(in folder: URL) async throws {
    let store = try await Store<RealmGuide.Dog>(storage: MemoryStorageEngine())
    try await RealmGuide.importDogs(from: folder.appendingPathComponent("dogs.json"), into: store)
    say("\(store.items.map { "\($0.name), \($0.age), \($0.toys.map(\.name))" })")
}

enum UserDefaultsGuide {
    @MainActor
    final class Settings {
        @StoredValue(key: "settings-fontSize") var fontSize = 14
        @StoredValue(key: "settings-recentFiles") var recentFiles: [String] = []

        init(takingOver defaults: UserDefaults = .standard) {
            if let size = defaults.object(forKey: "fontSize") as? Int {
                $fontSize.set(size)
                if $fontSize.lastError == nil { defaults.removeObject(forKey: "fontSize") }
            }
            if let files = defaults.stringArray(forKey: "recentFiles") {
                $recentFiles.set(files)
                if $recentFiles.lastError == nil { defaults.removeObject(forKey: "recentFiles") }
            }
        }
    }
}

enum JSONFilesGuide {
    struct Note: Codable, Sendable, Identifiable {
        var id: String
        var text: String
    }

    @MainActor
    static func openNotes(in folder: URL) async throws -> Store<Note> {
        let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
        let store = try await Store<Note>(storage: engine)
        let file = folder.appendingPathComponent("notes.json")
        if FileManager.default.fileExists(atPath: file.path) {
            if store.items.isEmpty {
                let notes = try JSONDecoder().decode([Note].self, from: Data(contentsOf: file))
                try await store.insert(notes)  // one batch: all notes, or none
            }
            try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("imported"))
        }
        return store
    }
}

enum RealmGuide {
    // {"Dog": [{"_id": "…", "name": "Rex", "age": 3, "toys": [{"name": "ball"}]}], "Cat": […]}
    struct Dog: Codable, Sendable, Identifiable {
        struct Toy: Codable, Sendable { var name: String }

        var id: String
        var name: String
        var age: Int
        var toys: [Toy]

        private enum CodingKeys: String, CodingKey { case id = "_id", name, age, toys }
    }

    struct RealmExport: Decodable {
        var dogs: [Dog]

        private enum CodingKeys: String, CodingKey { case dogs = "Dog" }
    }

    @MainActor
    static func importDogs(from export: URL, into store: Store<Dog>) async throws {
        let dogs = try JSONDecoder().decode(RealmExport.self, from: Data(contentsOf: export)).dogs
        try await store.insert(dogs)  // one batch: all dogs, or none
    }
}
