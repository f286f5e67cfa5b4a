import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Objects of a class, which other code can change while it has a reference.
@Suite struct ClassObjectTests {

    private let folder = TemporaryFolder()

    private final class Document: CodableStoreable {
        static var codableStoreIdentifier: KeyPath<Document, Int> { \.id }
        static var codableStoreCollectionName: String { "Documents" }
        let id: Int
        var text: String

        init(id: Int, text: String) { (self.id, self.text) = (id, text) }
    }

    /// The objects that an observer received. Only one thread uses them.
    private final class Received: @unchecked Sendable {
        var objects: [Document] = []
    }

    @Test(
        "Each observer receives its own copy of an object of a class, as it was saved or stored",
        arguments: [EngineKind.files, .memory, .sqlite])
    func copies(kind: EngineKind) throws {
        let store = CodableStore<Document>(engine: try kind.engine(in: folder))
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
        let references = [document, deleted] + all + first.objects + second.objects
        #expect(Set(references.map(ObjectIdentifier.init)).count == 11)
    }

    @Test("Many objects of a class are read as they were saved", arguments: [EngineKind.files, .sqlite])
    func many(kind: EngineKind) throws {
        let store = CodableStore<Document>(engine: try kind.engine(in: folder))
        store.save((0..<700).map { Document(id: $0, text: "\($0)") })
        #expect(try store.getCollection().map(\.text) == (0..<700).map { "\($0)" })
    }
}
