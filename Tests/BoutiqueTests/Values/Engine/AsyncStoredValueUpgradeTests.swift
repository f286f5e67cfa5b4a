import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// A value without an explicit key is stored under the key of Boutique 2.
@Suite struct AsyncStoredValueUpgradeTests {

    struct RedPanda: Codable, Sendable, Equatable {
        var name = "unnamed"
        var cuteRating = 0
    }

    private let pabu = RedPanda(name: "Pabu", cuteRating: 100)

    /// The name of Boutique 2's file for the value.
    private let fileName = "51AA44AF-5967-24B5-5A53-D49B49904487"

    private func panda(in engine: any StorageEngine) -> AsyncStoredValue<RedPanda> {
        AsyncStoredValue(wrappedValue: RedPanda(), storage: engine)
    }

    private func number(in engine: any StorageEngine) -> AsyncStoredValue<Int> {
        AsyncStoredValue(wrappedValue: 0, storage: engine)
    }

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
}
