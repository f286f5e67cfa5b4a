import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Objects of a class, which whoever has them can change.
@Suite struct ClassObjectTests {

    private let folder = TemporaryFolder()

    private final class Document: CodableStoreable {
        static var codableStoreIdentifier: KeyPath<Document, Int> { \.id }
        static var codableStoreCollectionName: String { "Documents" }
        let id: Int
        var text: String

        init(id: Int, text: String) { (self.id, self.text) = (id, text) }
    }

    /// The objects that observers have got. Only one thread uses them.
    private final class Received: @unchecked Sendable {
        var objects: [Document] = []
    }

    @Test(
        "Each observer gets a copy of an object of a class, as it was saved or stored",
        arguments: [Medium.files, .memory, .sqlite])
    func copies(medium: Medium) throws {
        let store = CodableStore<Document>(engine: try medium.engine(in: folder))
        let (first, second) = (Received(), Received())
        for received in [first, second] { store.observeCollection { received.objects.append($0.object) } }
        let document = Document(id: 1, text: "a")
        let saved = try store.save(document)
        #expect(saved === document)
        document.text = "changed afterwards"
        let deleted = try store.delete(document)
        store.save([document])
        let all = try store.deleteCollection().compactMap(\.object)

        #expect(first.objects.map(\.text) == ["a", "a", "changed afterwards", "changed afterwards"])
        let everybodys = [document, deleted] + all + first.objects + second.objects
        #expect(Set(everybodys.map(ObjectIdentifier.init)).count == 11)
    }

    @Test("Many objects of a class are read as they were saved", arguments: [Medium.files, .sqlite])
    func many(medium: Medium) throws {
        let store = CodableStore<Document>(engine: try medium.engine(in: folder))
        store.save((0..<700).map { Document(id: $0, text: "\($0)") })
        #expect(try store.getCollection().map(\.text) == (0..<700).map { "\($0)" })
    }
}
