import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// A value without an explicit key is stored under the key of Boutique 2. Earlier versions of Emporium used another
/// key.
@Suite struct AsyncStoredValueUpgradeTests {

    struct RedPanda: Codable, Sendable, Equatable {
        var name = "unnamed"
        var cuteRating = 0
    }

    private let pabu = RedPanda(name: "Pabu", cuteRating: 100)
    private let former = CacheKey("async-stored-value")

    /// The name of Boutique 2's file for the value.
    private let fileName = "51AA44AF-5967-24B5-5A53-D49B49904487"

    private func panda(in engine: any StorageEngine) -> AsyncStoredValue<RedPanda> {
        AsyncStoredValue(wrappedValue: RedPanda(), storage: engine)
    }

    private func number(in engine: any StorageEngine) -> AsyncStoredValue<Int> {
        AsyncStoredValue(wrappedValue: 0, storage: engine)
    }

    private func put(_ text: String, _ key: CacheKey, in engine: any StorageEngine) async throws {
        try await engine.write(Data(text.utf8), key: key)
    }

    private func texts(in engine: any StorageEngine) async throws -> [String: String] {
        let items = try await engine.fetchAll().map { ($0.key.rawValue, String(decoding: $0.data, as: UTF8.self)) }
        return Dictionary(uniqueKeysWithValues: items)
    }

    // MARK: Boutique 2

    @Test func `A value of Boutique 2 in an SQLite file is read, and Boutique 2 reads its replacement`() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(
            at: Fixtures.file("boutique-2-value.sqlite3"), to: folder.file("data.sqlite3"))
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let value = panda(in: engine)
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == pabu)
        try await value.set(\.cuteRating, to: 99)
        #expect(try await engine.fetchKeys() == [CacheKey("unique-value")])
        #expect(
            try await decoded(engine.fetch(key: CacheKey("unique-value"))) == RedPanda(name: "Pabu", cuteRating: 99))
    }

    @Test func `A value of Boutique 2 on disk is read, and Boutique 2 reads its replacement`() async throws {
        let folder = TemporaryFolder()
        let directory = folder.file("values")
        try FileManager.default.copyItem(at: Fixtures.file("boutique-2-value-disk"), to: directory)
        let engine = DiskStorageEngine(directory: FileManager.Directory(url: directory))
        let value = panda(in: engine)
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == pabu)
        try await value.set(\.cuteRating, to: 99)
        #expect(try await engine.fetchCount() == 1)
        let file = try Data(contentsOf: directory.appendingPathComponent(fileName))
        #expect(try decoded(file) == RedPanda(name: "Pabu", cuteRating: 99))
    }

    /// Decodes a value as Boutique 2 does.
    private func decoded(_ data: Data?) throws -> RedPanda {
        struct UniqueItem: Codable { var value: RedPanda }
        return try JSONDecoder().decode(UniqueItem.self, from: try #require(data)).value
    }

    @Test func `Boutique 2 resets a value by removing all data`() async throws {
        let engine = MemoryStorageEngine()
        let value = number(in: engine)
        try await value.set(1)
        try await engine.removeAllData()
        try await value.reload()
        #expect(value.wrappedValue == 0)
    }

    // MARK: Earlier versions of Emporium

    @Test("A value of an earlier version is read, and moved by the next change", arguments: [true, false])
    func formerKey(hasBoutiqueValue: Bool) async throws {
        let engine = MemoryStorageEngine()
        if hasBoutiqueValue { try await put(#"{"value":1}"#, CacheKey("unique-value"), in: engine) }
        try await put(#"{"value":2}"#, former, in: engine)
        let value = number(in: engine)
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == 2)
        try await value.modify { $0 += 1 }
        #expect(try await texts(in: engine) == ["unique-value": #"{"value":3}"#])
        let reopened = number(in: try await MemoryStorageEngine(items: engine.fetchAll()))
        try await reopened.valueHasLoaded()
        #expect(reopened.wrappedValue == 3)
    }

    static let faults: [StorageFault] = [.fail(.writes, .number(1)), .tear(afterFirst: 1, .number(1))]

    @Test("A failed or torn change leaves the value of an earlier version unchanged", arguments: faults)
    func failure(_ fault: StorageFault) async throws {
        let memory = MemoryStorageEngine()
        try await put(#"{"value":2}"#, former, in: memory)
        let value = number(in: FaultInjectingStorageEngine(memory, faults: [fault]))
        await #expect(throws: StorageError.self) { try await value.set(3) }
        let reopened = number(in: try await MemoryStorageEngine(items: memory.fetchAll()))
        try await reopened.valueHasLoaded()
        #expect(reopened.wrappedValue == 2)
        try await value.set(4)
        #expect(try await texts(in: memory) == ["unique-value": #"{"value":4}"#])
    }

    @Test func `A change by an earlier version in a shared engine is published immediately`() async throws {
        let engine = MemoryStorageEngine()
        let value = number(in: engine)
        var stream = value.values.makeAsyncIterator()
        #expect(await stream.next() == 0)
        try await value.set(1)
        #expect(await stream.next() == 1)
        try await put(#"{"value":2}"#, former, in: engine)
        #expect(await stream.next() == 2)
        try await put(#"{"value":9}"#, CacheKey("another"), in: engine)
        try await value.set(3)
        #expect(await stream.next() == 3)
        #expect(try await engine.fetch(key: former) == nil)
    }

    @Test func `Undecodable bytes are kept aside, and read from where an earlier version kept them`() async throws {
        let engine = MemoryStorageEngine()
        try await put("oldest", CacheKey("async-stored-value.undecodable"), in: engine)
        try await put("older", CacheKey("async-stored-value.undecodable-2"), in: engine)
        try await put("old", former, in: engine)
        let value = number(in: engine)
        await #expect(throws: StorageError.self) { try await value.valueHasLoaded() }
        #expect(try await value.undecodableData() == ["oldest", "older", "old"].map { Data($0.utf8) })
        try await value.set(1)
        #expect(try await value.undecodableData() == ["oldest", "older", "old"].map { Data($0.utf8) })
        try await value.removeUndecodableData()
        #expect(try await texts(in: engine) == ["unique-value": #"{"value":1}"#])
    }

    @Test func `A value with an explicit key ignores the former key`() async throws {
        let engine = MemoryStorageEngine()
        try await put(#"{"value":2}"#, former, in: engine)
        let value = AsyncStoredValue(wrappedValue: 0, key: "number", storage: engine)
        try await value.set(1)
        #expect(value.wrappedValue == 1)
        #expect(try await texts(in: engine) == ["async-stored-value": #"{"value":2}"#, "number": #"{"value":1}"#])
    }
}
