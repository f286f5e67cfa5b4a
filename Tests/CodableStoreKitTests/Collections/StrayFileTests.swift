import Bodega
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Files that another program, such as one with the original library, has added to a collection's folder under other
/// names.
@Suite struct StrayFileTests {

    private let folder = TemporaryFolder()
    private var store: CodableStore<Card> { CodableStore(engine: .fileSystem(in: folder.directory)) }

    private struct Card: CodableStoreable, Equatable, Sendable {
        let id: Int
        var text: String

        static var codableStoreIdentifier: KeyPath<Card, Int> { \.id }
        static var codableStoreCollectionName: String { "Cards" }
    }

    /// Writes a file like the original library: JSON in a file with an arbitrary name.
    private func put(_ card: Card, _ name: String) throws {
        let cards = folder.file("Default/Cards")
        try FileManager.default.createDirectory(at: cards, withIntermediateDirectories: true)
        try JSONEncoder().encode(card).write(to: cards.appendingPathComponent(name))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("Default/Cards").path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test("Objects in stray files are read, found, replaced and deleted like others")
    func strays() throws {
        try put(Card(id: 1, text: "a"), "-8829374650")
        try put(Card(id: 2, text: "b"), "7512.json")
        try put(Card(id: 3, text: "c"), "3")
        #expect(try store.get(identifier: 1) == Card(id: 1, text: "a"))
        #expect(store.exists(identifier: 2) && store.exists(identifier: 3) && !store.exists(identifier: 4))
        #expect(Set(try store.getCollection().map(\.id)) == [1, 2, 3])

        try store.save(Card(id: 1, text: "new"))
        #expect(try names() == ["1", "3", "7512.json"])
        #expect(try store.getCollection().filter { $0.id == 1 } == [Card(id: 1, text: "new")])
        #expect(try store.delete(identifier: 1) == Card(id: 1, text: "new"))
        #expect(!store.exists(identifier: 1))
        #expect(try store.delete(identifier: 2) == Card(id: 2, text: "b"))
        #expect(try store.getCollection() == [Card(id: 3, text: "c")])
        #expect(try names() == ["3"])
    }

    @Test("A file with the name of another object's identifier is not that object, and keeps its own", arguments: 0..<5)
    func misnamed(step: Int) throws {
        try put(Card(id: 1, text: "a"), "1")
        try put(Card(id: 2, text: "b"), "3")
        #expect(!store.exists(identifier: 3) && store.exists(identifier: 2))
        #expect { try store.get(identifier: 3) } throws: { ($0 as? StorageError)?.code == .notFound }
        #expect(try store.get(identifier: 2).text == "b")
        switch step {
        case 0:
            #expect { try store.delete(identifier: 3) } throws: { ($0 as? StorageError)?.code == .notFound }
            #expect(try names() == ["1", "3"])
        case 1:
            try store.save(Card(id: 3, text: "c"))
            #expect(try names() == ["1", "2", "3"])
            #expect(try store.get(identifier: 3).text == "c")
            try store.delete(identifier: 3)
        case 2:
            for result in store.save([Card(id: 3, text: "c"), Card(id: 2, text: "new")]) {
                #expect(result.error == nil)
            }
            #expect(try store.get(identifier: 2).text == "new")
            try store.save(Card(id: 2, text: "b"))
            try store.delete(identifier: 3)
        case 3:
            try store.delete(identifier: 2)
            #expect(try names() == ["1"])
            try store.save(Card(id: 2, text: "b"))
        default:
            try store.save(Card(id: 2, text: "new"))
            #expect(try names() == ["1", "2"])
            try store.save(Card(id: 2, text: "b"))
        }
        #expect(Set(try store.getCollection().map { "\($0.id) \($0.text)" }) == ["1 a", "2 b"])
        #expect(try store.get(identifier: 2).text == "b" && !store.exists(identifier: 3))
    }

    @Test("Two files of one object are one object and are deleted together")
    func twins() throws {
        try put(Card(id: 1, text: "a"), "x")
        try put(Card(id: 1, text: "a"), "y")
        #expect(try store.getCollection().count == 1)
        #expect(try store.deleteCollection().count == 1)
        #expect(try store.getCollection().isEmpty)
        #expect(try names().isEmpty)
    }

    @Test("A file that is added later is found after the collection has been read")
    func later() throws {
        try store.save(Card(id: 1, text: "a"))
        #expect(!store.exists(identifier: 2))
        try put(Card(id: 2, text: "b"), "copied here")
        #expect(try store.getCollection().count == 2)
        #expect(try store.get(identifier: 2) == Card(id: 2, text: "b"))
        try store.delete(identifier: 2)
        #expect(try names() == ["1"])
    }

    @Test("Subfolders and undecodable files are left alone")
    func others() throws {
        try store.save(Card(id: 1, text: "a"))
        let cards = folder.file("Default/Cards")
        try FileManager.default.createDirectory(
            at: cards.appendingPathComponent("subfolder"), withIntermediateDirectories: true)
        try Data("?".utf8).write(to: cards.appendingPathComponent("readme.txt"))
        let found = try store.fetchCollection()
        #expect(found.objects.count == 1)
        #expect(found.undecodable.map(\.file?.lastPathComponent) == ["readme.txt"])
        try store.deleteCollection()
        #expect(try names() == ["readme.txt", "subfolder"])
    }
}
