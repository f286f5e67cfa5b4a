import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

private struct Message: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var text: String

    static let searchable = [Searchable("text", \Message.text)]

    var key: CacheKey { CacheKey("\(id)") }
}

@MainActor
@Suite("Live windows over a search")
struct LiveSearchTests {
    private let folder = TemporaryFolder()

    private func storage(_ engine: WindowEngine) throws -> ObjectStorage<Message> {
        switch engine {
        case .memory: ObjectStorage(storage: MemoryStorageEngine())
        case .encrypted:
            ObjectStorage(storage: MemoryStorageEngine().encrypted(with: EncryptionKeyset(), collection: "messages"))
        case .cached: ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory).cached())
        case .readInKeyOrder: ObjectStorage(storage: MemoryStorageEngine().mirrored(to: MemoryStorageEngine()))
        case .sqlite, .indexedSQLite: ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory))
        }
    }

    @Test("A change of an object that is not in the window changes the order of those that are")
    func order() async throws {
        let messages = try storage(.sqlite)
        let texts = ["apple", "pear pear", "other", "other", "pear", "other", "other"]
        for (id, text) in texts.enumerated() {
            try await messages.store(Message(id: id, text: text), forKey: CacheKey("\(id)"))
        }
        // "apple" is rarer than "pear", until it is not.
        let window = LiveQuery(Query<Message>().searching("apple OR pear"), in: messages, limit: 1)
        try await window.itemsHaveLoaded()
        #expect(window.items.map(\.id) == [0])
        for id in 10..<14 {
            let message = Message(id: id, text: "an apple in a text that is so long that it is never the best of all")
            try await messages.store(message, forKey: message.key)
        }
        #expect(try await eventually { window.items.map(\.id) == [1] })
    }

    @Test("A window over a search shows what a query finds, after each change", arguments: WindowEngine.allCases)
    func random(_ engine: WindowEngine) async throws {
        let seed = Seed.current
        var random = SeededGenerator(seed: seed)
        let messages = try storage(engine)
        let words = ["red", "green", "blue", "Grün", "violet"]
        func message() -> Message {
            let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                words[Int.random(in: words.indices, using: &random)]
            }
            return Message(id: .random(in: 0..<20, using: &random), text: text.joined(separator: " "))
        }
        for _ in 0..<15 {
            let message = message()
            try await messages.store(message, forKey: message.key)
        }
        let queries = [
            Query<Message>().searching("red OR gr*"),
            Query<Message>().searching("red -blue").sorted(by: SortDescriptor(\.id, order: .reverse)),
        ]
        for query in queries {
            let window = LiveQuery(query, in: messages, limit: 5)
            try await window.itemsHaveLoaded()
            for step in 0..<15 {
                let message = message()
                if step % 4 == 3 {
                    try await messages.removeObject(forKey: message.key)
                } else {
                    try await messages.store(message, forKey: message.key)
                }
                let expected = try await messages.fetch(query, limit: 5).objects
                let isShown = try await eventually { window.items == expected }
                #expect(isShown, "seed \(seed), step \(step): \(window.items) instead of \(expected)")
            }
            try await window.loadMore()
            let expected = try await messages.fetch(query, limit: 10).objects
            #expect(try await eventually { window.items == expected })
        }
    }
}
