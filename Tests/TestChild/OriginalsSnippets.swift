import Bodega
import Boutique
import CodableStoreKit
import Foundation

// The snippets of the guides for programs that used the original libraries. A test compares them with the guides, line
// by line, and puts the originals' files into the user's folders.

/// Runs the snippets of the guides about the original libraries.
///
/// - Parameter documents: The folder in which CodableStoreKit has stored users.
@MainActor
func runOriginalsSnippets(_ documents: URL) async throws {
    say("\(try await BodegaGuide.useQuotes().map(\.text))")
    say("\(try await BodegaGuide.fetchQuotes().map(\.id))")

    let controller = QuotesController()
    try await BoutiqueGuide.check(controller.$quotes)
    say("\(controller.quotes.map(\.id))")
    try await controller.add(Quote(id: "ella", text: "It isn't where you came from."))
    say("\(controller.quotes.map(\.id))")
    try await controller.replaceAll(with: Array(controller.quotes.suffix(1)))
    say("\(controller.quotes.map(\.id)) \(try await BodegaGuide.fetchQuotes().map(\.id))")

    let users = CodableStore<CodableStoreKitGuide.User>()
    try CodableStoreKitGuide.takeOver(into: users, from: documents)
    say("\(try users.getCollection().map(\.name).sorted())")
    say("\(try CodableStoreKitGuide.rename("42", to: "Elliot").map(\.name).sorted())")
    try CodableStoreKitGuide.takeOver(into: users, from: documents)
    say("\(try users.getCollection().map(\.name).sorted())")
}

enum BodegaGuide {
    struct Quote: Codable { var id, text: String }

    static func useQuotes() async throws -> [Quote] {
        let storage = ObjectStorage<Quote>(storage: SQLiteStorageEngine.default(appendingPath: "Quotes"))
        if var zora = await storage.object(forKey: CacheKey("zora")) {
            zora.text += " and years that answer."
            try await storage.store(zora, forKey: CacheKey("zora"))
        }
        return await storage.allObjects()
    }

    static func fetchQuotes() async throws -> [Quote] {
        let storage = ObjectStorage<Quote>(
            storage: try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Quotes")))
        let fetched = try await storage.fetchAllObjects()
        for error in fetched.undecodable { print(error) }
        return fetched.objects
    }
}

struct Quote: Codable, Sendable { var id, text: String }

extension Store where Item == Quote {
    static let quotesStore = Store<Quote>(
        storage: SQLiteStorageEngine.default(appendingPath: "Quotes"), cacheIdentifier: \.id)
}

@MainActor
final class QuotesController {
    @Stored(in: .quotesStore) var quotes

    func add(_ quote: Quote) async throws {
        try await $quotes.insert(quote)
    }

    func replaceAll(with quotes: [Quote]) async throws {
        try await $quotes.removeAll().insert(quotes).run()
    }
}

enum BoutiqueGuide {
    @MainActor
    static func check(_ store: Store<Quote>) async throws {
        try await store.itemsHaveLoaded()  // throws if the items could not be read
        for record in try await store.undecodableData() {
            print(record.key.rawValue, record.data.count, "bytes")
        }
    }
}

enum CodableStoreKitGuide {
    struct User: CodableStoreable, Sendable {
        let id: String
        var name: String

        static var codableStoreIdentifier: KeyPath<User, String> { \.id }
    }

    static func rename(_ identifier: String, to name: String) throws -> [User] {
        var user = try User.get(identifier: identifier)
        user.name = name
        try user.save()
        return try User.getCollection()
    }

    /// Saves the objects that the original library has stored in the container, except those that the store has
    /// already. The files remain, in a folder whose name ends in `.old`.
    static func takeOver<Object>(into store: CodableStore<Object>, from documents: URL) throws {
        let folder = documents.appendingPathComponent("\(store.container.name)-CodableStoreContainer")
            .appendingPathComponent(Object.codableStoreCollectionName)
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        let dated = try files.map { file in
            (file, date: try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate)
        }
        // The newest first: an older version of the same object is not saved over it.
        for (file, _) in dated.sorted(by: { ($0.date ?? .distantPast) > ($1.date ?? .distantPast) }) {
            let data = try Data(contentsOf: file)
            do {
                let object = try Object.codableStoreCoder.decoder.decode(Object.self, from: data)
                let identifier = object[keyPath: Object.codableStoreIdentifier]
                if try !store.fetchExistence(identifier: identifier) { try store.save(object) }
            } catch let error as DecodingError {
                print("\(file.path) was not taken over: \(error)")
            }
        }
        try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("\(UUID().uuidString).old"))
    }
}
