import Boutique
import Foundation
import TestSupport
import Testing

private struct Shelf: Codable, Sendable, Identifiable, Equatable {
    var id: String
    var parentID: String?
}

private struct Book: Codable, Sendable, Identifiable, Equatable {
    var id: String
    var shelfID: String?
}

extension Shelf: Queryable {
    static let references = [
        Reference("parentID", \Shelf.parentID, to: Shelf.self, in: "shelves", onRemoval: .remove)
    ]
}

extension Book: Queryable {
    static let references = [
        Reference("shelfID", \Book.shelfID, to: Shelf.self, in: "shelves", onRemoval: .remove)
    ]
}

@MainActor
@Suite("Stores of items that name others")
struct StoreReferenceTests {
    private let folder = TemporaryFolder()

    private struct Library {
        let shelves: Store<Shelf>
        let books: Store<Book>

        @MainActor
        init(_ collection: (String) throws -> any StorageEngine) async throws {
            shelves = try await Store<Shelf>(storage: try collection("shelves"))
            books = try await Store<Book>(storage: try collection("books"))
        }

        @MainActor
        func fill() async throws {
            try await shelves.insert([Shelf(id: "a"), Shelf(id: "b", parentID: "a"), Shelf(id: "c")])
            try await books.insert([
                Book(id: "1", shelfID: "a"), Book(id: "2", shelfID: "b"), Book(id: "3", shelfID: "c"), Book(id: "4"),
            ])
        }
    }

    private func library(inMemory isInMemory: Bool) async throws -> Library {
        let memory = MemoryStorageEngine()
        let file = try SQLiteStorageEngine(opening: folder.directory)
        return try await Library { name -> any StorageEngine in
            if isInMemory { memory.collection(named: name) } else { try file.collection(named: name) }
        }
    }

    @Test("show in one step what goes with a removed item", arguments: [false, true])
    func oneStep(isInMemory: Bool) async throws {
        let library = try await library(inMemory: isInMemory)
        try await library.fill()
        let (shelves, books) = (library.shelves, library.books)
        var states: [String] = []
        let note = {
            states.append("\(shelves.items.map(\.id).joined())/\(books.items.map(\.id).joined())")
        }
        let watches = [shelves.$items.sink { _ in note() }, books.$items.sink { _ in note() }]
        states = []
        try await shelves.remove(Shelf(id: "a"))
        // After an awaited call, memory equals the engine, also what goes with the removed item.
        #expect(shelves.items.map(\.id) == ["c"])
        #expect(books.items.map(\.id) == ["3", "4"])
        #expect(Set(states) == ["c/34"], "\(states)")
        withExtendedLifetime(watches) {}
    }

    @Test("show it if a store has removed all items, or several in a chain")
    func others() async throws {
        let library = try await library(inMemory: false)
        try await library.fill()
        try await library.shelves.remove(Shelf(id: "b")).insert(Shelf(id: "d")).run()
        #expect(library.shelves.items.map(\.id) == ["a", "c", "d"])
        #expect(library.books.items.map(\.id) == ["1", "3", "4"])
        try await library.shelves.removeAll()
        #expect(library.shelves.items.isEmpty)
        #expect(library.books.items.map(\.id) == ["4"])
    }

    @Test("show it after a transaction over several stores", arguments: [false, true])
    func transaction(isInMemory: Bool) async throws {
        let library = try await library(inMemory: isInMemory)
        try await library.fill()
        try await library.shelves.transaction(with: library.books) { shelves, books in
            shelves.remove(Shelf(id: "a"))
            books.insert(Book(id: "5", shelfID: "a"))
            books.insert(Book(id: "6", shelfID: "c"))
        }
        #expect(library.shelves.items.map(\.id) == ["c"])
        #expect(library.books.items.map(\.id) == ["3", "4", "6"])
    }

    @Test("show in one step, in windows, too, what another engine on the file has removed")
    func foreign() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try await Library { try file.collection(named: $0) }
        try await library.fill()
        let storages = (
            ObjectStorage<Shelf>(storage: try file.collection(named: "shelves")),
            ObjectStorage<Book>(storage: try file.collection(named: "books"))
        )
        let (shelves, books) = (LiveQuery(Query(), in: storages.0), LiveQuery(Query(), in: storages.1))
        try await shelves.itemsHaveLoaded()
        try await books.itemsHaveLoaded()
        var (states, windows): ([String], [String]) = ([], [])
        let note = {
            states.append("\(library.shelves.items.map(\.id).joined())/\(library.books.items.map(\.id).joined())")
            windows.append("\(shelves.items.map(\.id).joined())/\(books.items.map(\.id).joined())")
        }
        let watches = [
            library.shelves.$items.sink { _ in note() }, library.books.$items.sink { _ in note() },
            shelves.$items.sink { _ in note() }, books.$items.sink { _ in note() },
        ]
        let other = try SQLiteStorageEngine(opening: folder.directory)
        try await ObjectStorage<Shelf>(storage: try other.collection(named: "shelves")).removeObject(
            forKey: CacheKey("a"))
        while library.shelves.items.count > 1 || shelves.items.count > 1 { await Task.yield() }
        note()
        for seen in [states, windows] {
            #expect(seen.last == "c/34")
            #expect(Set(seen).isSubset(of: ["abc/1234", "c/34"]), "\(seen)")
        }
        withExtendedLifetime(watches) {}
    }

    @Test("keep an item that was refused to be removed")
    func refusal() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try await Library { try file.collection(named: $0) }
        try await library.fill()
        try await file.collection(named: "books").declareReferences([
            StorageReference("shelfID", to: "shelves", onRemoval: .refuse)
        ])
        let error = await #expect(throws: StorageError.self) { try await library.shelves.remove(Shelf(id: "c")) }
        #expect(error?.code == .referenced)
        #expect(library.shelves.items.count == 3)
        #expect(library.shelves.state.isLoaded)
        try await library.books.remove(Book(id: "3"))
        try await library.shelves.remove(Shelf(id: "c"))
        #expect(library.shelves.items.count == 2)
    }

    @Test("fail to load if their engine can keep no references")
    func unable() async throws {
        let engine = DiskStorageEngine(directory: folder.directory)
        let error = await #expect(throws: StorageError.self) { try await Store<Book>(storage: engine) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("DiskStorageEngine") == true)
    }

    @Test("fail to load with a migration, whose records the database can't look into")
    func migrated() async throws {
        let error = await #expect(throws: StorageError.self) {
            try await Store<Book>(
                storage: MemoryStorageEngine(), cacheIdentifier: \.id, migration: ItemMigration(startingWith: Book.self)
            )
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("migration") == true)
    }
}
