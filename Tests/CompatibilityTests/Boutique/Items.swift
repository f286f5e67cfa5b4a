import Boutique
import Foundation

struct Note: Codable, Sendable, Equatable, Identifiable {
    var id: String
    var text = ""
}

struct Chore: Codable, Sendable, Equatable, Identifiable {
    var id = UUID()
    var title: String
}

struct Link: Codable, Sendable, Equatable {
    var url: URL
    var title: String
}

extension Link {
    /// Creates a link to an example page.
    init(page: String) {
        url = URL(fileURLWithPath: "/pages/\(page)")
        title = page
    }
}

// Stores as code for version 2 declares them: in an extension, in an enum, and globally. Each is used by one test only,
// because tests run concurrently.

extension Store where Item == Note {
    static let notesStore = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
    static let draftsStore = Store<Note>(storage: MemoryStorageEngine())
    static let archiveStore = Store<Note>(storage: MemoryStorageEngine())
}

extension Store where Item == Chore {
    static let choresStore = Store<Chore>(storage: MemoryStorageEngine())
}

extension Store where Item == Link {
    static let linksStore = Store<Link>(storage: MemoryStorageEngine(), cacheIdentifier: \.url.absoluteString)
}

enum Stores {
    static let notes = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
}

let globalStore = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)

// Stores for previews, declared in the same ways.

enum Previews {
    static let notes = Store.previewStore(items: [Note(id: "milk")])
    static let chores = Store.previewStore(items: [Chore(title: "Sweep")])
}

let globalPreview = Store.previewStore(items: [Link(page: "home")], cacheIdentifier: \.url.absoluteString)
