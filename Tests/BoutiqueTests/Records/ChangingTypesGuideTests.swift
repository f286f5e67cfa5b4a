// The snippets of the guide about changed types. A test compares them with the guide, line by line.
import Boutique
import Foundation
import Testing

struct Reminder: Codable, Sendable, Identifiable {
    var id: String
    var title: String
    var isDone = false
}

extension Reminder {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        title = try values.decode(String.self, forKey: .title)
        isDone = try values.decodeIfPresent(Bool.self, forKey: .isDone) ?? false
    }
}

extension Reminder: Queryable {
    static let indexes = [Index("isDone", \Reminder.isDone)]
}

enum NotesOfThreeShapes {
    typealias NoteV1 = BoutiqueTests.NoteV1
    typealias NoteV2 = BoutiqueTests.NoteV2

    struct Note: Codable, Sendable, Identifiable {
        var id: String
        var title: String
        var tags: Set<String>
    }

    @MainActor
    static func open(_ engine: any StorageEngine) async throws -> Store<Note> {
        let migration = ItemMigration(startingWith: NoteV1.self)
            .then(NoteV2.self) { NoteV2(id: $0.id, title: $0.text, tags: []) }
            .then(Note.self) { Note(id: $0.id, title: $0.title, tags: Set($0.tags)) }

        let store = try await Store<Note>(storage: engine, cacheIdentifier: \.id, migration: migration)
        return store
    }
}

@MainActor @Suite("The guide about changed types")
struct ChangingTypesGuideTests {
    private let engine = MemoryStorageEngine()

    @Test("decodes what lacks a new property, also in queries and by references")
    func newProperty() async throws {
        try await engine.write(Data(#"{"id":"1","title":"Buy milk"}"#.utf8), key: CacheKey("1"))
        let store = try await Store<Reminder>(storage: engine)
        #expect(store.items.map(\.title) == ["Buy milk"] && store.items.map(\.isDone) == [false])
        #expect(store.undecodable.isEmpty)
        let storage = ObjectStorage<Reminder>(storage: engine)
        let open = Query<Reminder>(where: #Predicate { !$0.isDone })
        #expect(try await storage.fetch(open).objects.map(\.id) == ["1"])
        try await storage.createIndexes()
        for number in 2..<300 {
            try await engine.write(
                Data(#"{"id":"\#(number)","title":"","isDone":\#(number != 9)}"#.utf8), key: CacheKey("\(number)"))
        }
        #expect(try await storage.fetch(open).objects.map(\.id) == ["1", "9"])
        #expect(try await storage.count(open) == 2)
    }

    @Test("converts the first shape")
    func migration() async throws {
        try await engine.write(Data(#"{"id":"1","text":"Buy milk"}"#.utf8), key: CacheKey("1"))
        let store = try await NotesOfThreeShapes.open(engine)
        #expect(store.items.map(\.title) == ["Buy milk"])
    }
}
