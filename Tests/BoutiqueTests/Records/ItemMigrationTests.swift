import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct ItemMigrationTests {

    private func version(of data: Data) throws -> Int? {
        try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])["$version"] as? Int
    }

    private func versions(in engine: any StorageEngine) async throws -> [Int?] {
        try await engine.fetchAllData().map(version)
    }

    @Test("Records of older versions of a program are read and rewritten in the current shape", arguments: [1, 2, 3])
    func frozenFixtures(version: Int) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(
            at: Fixtures.file("emporium-1-notes-v\(version).sqlite3"), to: folder.file("data.sqlite3"))
        for _ in 0..<2 {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            let store = try await Store<NoteV3>(storage: engine, migration: .ofThree)
            let tags = version == 1 ? [] : ["shop", "soon"]
            #expect(
                store.items == [
                    NoteV3(id: "milk", title: "Buy milk", tags: tags, priority: tags.count),
                    NoteV3(id: "bread", title: "Buy bread", tags: tags, priority: tags.count),
                ])
            #expect(store.undecodable.isEmpty)
            #expect(try await versions(in: engine) == [3, 3])
            try await engine.close()
        }
    }

    @Test("Records of the current shape are not rewritten")
    func current() async throws {
        let engine = RecordingStorageEngine(MemoryStorageEngine())
        let store = try await Store<NoteV3>(storage: engine, migration: .ofThree)
        let note = NoteV3(id: "a", title: "A", tags: ["z", "b"], priority: 7)
        try await store.insert(note)
        let writes = engine.calls.filter { $0.operation == .apply }.count
        let again = try await Store<NoteV3>(storage: engine, migration: .ofThree)
        #expect(again.items == [note])
        #expect(engine.calls.filter { $0.operation == .apply }.count == writes)
    }

    @Test("An interrupted rewrite is resumed at the next load")
    func resuming() async throws {
        let memory = MemoryStorageEngine()
        let old = try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
        try await old.insert((0..<2_500).map { NoteV1(id: "\($0)", text: "\($0)") })
        let failing = FaultInjectingStorageEngine(WithoutLog(memory), faults: [.fail([.apply], .number(2))])
        let store = try await Store<NoteV3>(storage: failing, migration: .ofThree)
        #expect(store.count == 2_500 && store["2499"]?.title == "2499")
        #expect(try await versions(in: memory).filter { $0 == 3 }.count == 1_000)
        // An item that is written in the meantime has the current shape.
        try await store.update(id: "2400") { $0.title = "new" }
        #expect(try await versions(in: memory).filter { $0 == 3 }.count == 1_001)
        let recording = RecordingStorageEngine(memory)
        let resumed = try await Store<NoteV3>(storage: recording, migration: .ofThree)
        #expect(resumed.items == store.items)
        #expect(recording.calls.filter { $0.operation == .apply }.map(\.keys.count) == [1_000, 499])
        #expect(try await versions(in: memory).allSatisfy { $0 == 3 })
    }

    @Test("A record that a step can't convert stays unchanged and is reported")
    func failingStep() async throws {
        struct NotANumber: Error {}
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
            .insert([NoteV1(id: "a", text: "1"), NoteV1(id: "b", text: "x"), NoteV1(id: "c", text: "3")])
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { old in
            guard let count = Int(old.text) else { throw NotANumber() }
            return Note(id: old.id, count: count)
        }
        let store = try await Store<Note>(storage: memory, migration: migration)
        #expect(store.items.map(\.count) == [1, 3])
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])
        #expect(store.undecodable.first?.cause is NotANumber)
        let kept = try #require(try await store.undecodableData().first)
        #expect(try JSONDecoder().decode(NoteV1.self, from: kept.data) == NoteV1(id: "b", text: "x"))
    }

    @Test("A record of a newer version of the program stays unchanged and is reported")
    func newerRecord() async throws {
        let memory = MemoryStorageEngine()
        let note = NoteV3(id: "a", title: "A", tags: [], priority: 1)
        try await Store<NoteV3>(storage: memory, migration: .ofThree).insert(note)
        let older = try await Store<NoteV2>(storage: memory, cacheIdentifier: \.id, migration: .ofTwo)
        #expect(older.items == [])
        #expect(older.undecodable.count == 1)
        try await older.insert(NoteV2(id: "b", title: "B", tags: []))
        let newer = try await Store<NoteV3>(storage: memory, migration: .ofThree)
        #expect(newer.items == [note, NoteV3(id: "b", title: "B", tags: [], priority: 0)])
    }

    @Test("If a step changes the identifier, the item can be looked up and removed by the new one")
    func newIdentifier() async throws {
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id).insert(NoteV1(id: "a", text: "1"))
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) {
            Note(id: "note-\($0.id)", text: $0.text)
        }
        let store = try await Store<Note>(storage: memory, migration: migration)
        #expect(store["note-a"]?.text == "1")
        try await store.update(id: "note-a") { $0.text = "2" }
        let again = try await Store<Note>(storage: memory, migration: migration)
        #expect(again.items == [Note(id: "note-a", text: "2")])
        try await again.removeAll()
        #expect(await memory.keyCount() == 0)
    }

    @Test("Migrations work for items that are not JSON objects, and with custom coders")
    func otherItems() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Int>(storage: memory, cacheIdentifier: \.description).insert([1, 2])
        let texts = ItemMigration(startingWith: Int.self).then { "\($0)" }
        let store = try await Store<String>(storage: memory, cacheIdentifier: \.self, migration: texts)
        #expect(store.items == ["1", "2"])

        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        let coder = JSONObjectCoder(encoder: encoder, decoder: decoder)
        let dated = MemoryStorageEngine()
        let date = Date(timeIntervalSince1970: 0)
        try await Store<Date>(storage: dated, cacheIdentifier: \.description, coder: coder).insert(date)
        let dates = ItemMigration(startingWith: Date.self).then { [$0] }
        let days = try await Store<[Date]>(
            storage: dated, cacheIdentifier: \.description, coder: coder, migration: dates)
        #expect(days.items == [[date]])
    }
}
