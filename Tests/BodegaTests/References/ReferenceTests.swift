import Bodega
import Foundation
import TestSupport
import Testing

@Suite("References")
struct ReferenceTests {
    private let folder = TemporaryFolder()

    enum Kind: CaseIterable { case memory, indexedMemory, SQLite, indexed }

    @Test("leave what a naive program leaves, with cycles and dangling ones", arguments: Kind.allCases)
    func agreement(kind: Kind) async throws {
        let defects = try await ReferenceModel.findDefects(cases: TestSizes.references, seed: Seed.current) { number in
            let names = ["a", "b", "c"]
            let isInMemory = kind == .memory || kind == .indexedMemory
            let memory = MemoryStorageEngine()
            let database = try SQLiteStorageEngine(openingFile: folder.file("\(number)"), durability: .relaxed)
            var engines: [String: any StorageBackend] = [:]
            for name in names {
                let engine: any StorageBackend =
                    isInMemory ? memory.collection(named: name) : try database.collection(named: name)
                if kind == .indexed || kind == .indexedMemory {
                    for (number, path) in ["one", "two"].enumerated() {
                        try await engine.createIndex(StorageIndex(path, isForText: number == 0))
                    }
                }
                engines[name] = engine
            }
            return engines
        }
        #expect(defects == [], "EMPORIUM_SEED=\(Seed.current)")
    }

    /// The new version of an item is removed by what follows from another batch. What it was before still counts as
    /// overwritten.
    @Test(
        "are not to an item that is removed and written again, even if it is removed after that",
        arguments: [true, false])
    func overwrittenThenRemoved(inMemory: Bool) async throws {
        let database = try SQLiteStorageEngine(openingFile: folder.file("overwritten"), durability: .relaxed)
        let memory = MemoryStorageEngine()
        func engine(_ name: String) throws -> any StorageBackend {
            inMemory ? memory.collection(named: name) : try database.collection(named: name)
        }
        let (people, visits) = (try engine("people"), try engine("visits"))
        try await visits.references?.declareReferences([StorageReference("person", to: "people", onRemoval: .remove)])
        try await people.references?.declareReferences([StorageReference("last", to: "visits", onRemoval: .refuse)])
        try await people.write(Data(#"{"id":1}"#.utf8), key: CacheKey("ann"))
        try await people.write(Data(#"{"id":2,"last":10}"#.utf8), key: CacheKey("ben"))
        try await visits.write(Data(#"{"id":10}"#.utf8), key: CacheKey("first"))
        let again = Data(#"{"id":11,"person":1}"#.utf8)
        _ = try await StorageBatchGroup.apply([
            (people, StorageBatch([.remove(key: CacheKey("ann"))])),
            (visits, StorageBatch([.remove(key: CacheKey("first")), .write(key: CacheKey("first"), data: again)])),
        ])
        #expect(try await visits.fetchAll().isEmpty)
        #expect(try await people.fetchAll().map(\.key) == [CacheKey("ben")])
    }

    /// Each part of 500 removed items once began a pass of its own over all items with lists.
    @Test("without an index are looked up in one pass, however many items are removed")
    func passes() throws {
        let links = [
            ReferenceLink(
                source: "notes", reference: StorageReference("folder", to: "folders", onRemoval: .remove),
                index: StorageIndex("folder")),
            ReferenceLink(
                source: "notes", reference: StorageReference("related", isList: true, to: "notes", onRemoval: .clear),
                index: nil),
            ReferenceLink(
                source: "pins", reference: StorageReference("notes", isList: true, to: "notes", onRemoval: .refuse),
                index: nil),
        ]
        var notes: [CacheKey: StorageItem] = [:]
        for number in 0..<4_000 {
            let related = number > 0 ? "\(number - 1)" : ""
            let folder = number < 3_990 ? "f" : "g"
            let data = Data(#"{"id":\#(number),"folder":"\#(folder)","related":[\#(related)]}"#.utf8)
            notes[CacheKey("\(number)")] = StorageItem(key: CacheKey("\(number)"), data: data)
        }
        var cascade = ReferenceCascade(links)
        cascade.removed(
            [cascade.identifiers(of: Data(#"{"id":"f"}"#.utf8), in: "folders")], besides: [], from: "folders")
        var passes: [String: Int] = [:]
        while let step = cascade.next() {
            switch step {
            case .read("notes", .range):
                let found = Array(notes.values.filter(cascade.isWanted).prefix(ReferenceCascade.partSize))
                let isPart = found.count == ReferenceCascade.partSize
                try cascade.receive(found, end: isPart ? found.last?.place : nil)
            case .read("notes", .irregular): try cascade.receive([], end: nil)
            case .read(let collection, _):
                passes[collection, default: 0] += 1
                let items = collection == "notes" ? Array(notes.values) : []
                try cascade.receive(items.filter(cascade.isWanted), end: nil)
            case .apply(_, let operations):
                for operation in operations {
                    switch operation {
                    case .write(let key, let data): notes[key]?.data = data
                    case .remove(let key): notes[key] = nil
                    case .removeAll: notes = [:]
                    }
                }
            }
        }
        #expect(passes == ["notes": 1, "pins": 1])
        #expect(notes.count == 10)
        #expect(notes[CacheKey("3990")]?.data == Data(#"{"id":3990,"folder":"g","related":[]}"#.utf8))
        #expect(notes[CacheKey("3991")]?.data == Data(#"{"id":3991,"folder":"g","related":[3990]}"#.utf8))
    }
}
