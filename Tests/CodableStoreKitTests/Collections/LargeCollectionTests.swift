import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Collections that are large enough to be decoded on several threads.
@Suite struct LargeCollectionTests {

    private let folder = TemporaryFolder()
    private let notes = (0..<3_000).map { Note(id: $0 * 7 % 3_000, text: "text \($0)") }

    private struct Sheet: CodableStoreable, Equatable, Sendable {
        static var codableStoreIdentifier: KeyPath<Sheet, Int> { \.id }
        static var codableStoreCollectionName: String { "Sheets" }
        let id: Int
        var text: String?
    }

    /// A type of the same records. Some of them cannot be decoded as it.
    private struct FullSheet: CodableStoreable, Equatable, Sendable {
        static var codableStoreIdentifier: KeyPath<FullSheet, Int> { \.id }
        static var codableStoreCollectionName: String { "Sheets" }
        let id: Int
        var text: String
    }

    @Test("All objects are read, in the order in which they were first saved", arguments: EngineKind.allCases)
    func order(kind: EngineKind) throws {
        let store = CodableStore<Note>(engine: try kind.engine(in: folder))
        #expect(store.save(notes).allSatisfy { $0.error == nil })
        try store.save(Note(id: notes[5].id, text: "new"))
        var expected = notes
        expected[5].text = "new"
        for _ in 0..<2 {
            #expect(try store.getCollection() == expected)
            #expect(try store.fetchCollection().objects == expected)
        }
    }

    @Test(
        "Undecodable objects do not hide others, at any index",
        arguments: EngineKind.onDisk, [[0], [2_999], [0, 1, 2, 1_499, 1_500, 2_998, 2_999], Array(0..<3_000)])
    func undecodable(kind: EngineKind, numbers: [Int]) throws {
        let sheets = CodableStore<Sheet>(engine: try kind.engine(in: folder))
        let missing = Set(numbers)
        sheets.save((0..<3_000).map { Sheet(id: $0, text: missing.contains($0) ? nil : "\($0)") })
        let store = CodableStore<FullSheet>(engine: try kind.engine(in: folder))
        let expected = (0..<3_000).filter { !missing.contains($0) }.map { FullSheet(id: $0, text: "\($0)") }
        #expect(try store.getCollection() == expected)
        let found = try store.fetchCollection()
        #expect(found.objects == expected)
        #expect(found.objectsAndKeys.allSatisfy { $0.key.rawValue == "\($0.object.id)" })
        #expect(found.undecodable.map(\.key?.rawValue) == numbers.map { "\($0)" })
    }

    @Test("Among many files, stray ones are found, and objects' own files take precedence")
    func strays() throws {
        let store = CodableStore<Sheet>(engine: .fileSystem(in: folder.directory))
        store.save((0..<1_000).map { Sheet(id: $0, text: "own") })
        let files = folder.file("Default/Sheets")
        for id in [3, 2_000] {
            let data = try JSONEncoder().encode(Sheet(id: id, text: "stray"))
            try data.write(to: files.appendingPathComponent("\(id).json"))
        }
        let found = try store.getCollection()
        #expect(Set(found.map(\.id)) == Set(0..<1_000).union([2_000]))
        #expect(found.count == 1_001)
        #expect(found.first { $0.id == 3 }?.text == "own")
        #expect(try store.delete(identifier: 2_000).text == "stray")
    }
}
