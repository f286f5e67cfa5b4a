import Bodega
import Foundation
import TestSupport
import Testing

@Suite struct DatedStorageEngineTests {

    private static func engine(_ kind: String, at folder: TemporaryFolder) throws -> any StorageBackend {
        switch kind {
        case "sqlite": try SQLiteStorageEngine(opening: folder.directory, now: { day(99) })
        case "disk": try DiskStorageEngine(opening: folder.directory, now: { day(99) })
        default: MemoryStorageEngine(now: { day(99) })
        }
    }

    private static func day(_ number: Double) -> Date {
        Date(timeIntervalSince1970: 1_700_000_000.125 + number * 86_400)
    }

    private func item(_ key: CacheKey, _ text: String, _ created: Double, _ updated: Double) -> StorageItem {
        let dates = StorageDates(createdAt: Self.day(created), updatedAt: Self.day(updated))
        return StorageItem(key: key, data: Data(text.utf8), dates: dates)
    }

    @Test("Items keep the dates that they are written with, and their order", arguments: ["sqlite", "disk", "memory"])
    func dates(kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = try Self.engine(kind, at: folder)
        // Equal raw values, so that the items compete for one row or file name.
        let items = CacheKey.Kind.allCases.enumerated().map { index, kind in
            item(CacheKey(rawValue: "a", kind: kind), "\(kind)", Double(10 - index), Double(20 - index))
        }
        try await engine.write(items: items)
        #expect(try await engine.fetchItems(keys: items.map(\.key)) == items)
        let dates = try await engine.fetchAllDates()
        #expect(dates.map(\.key) == items.map(\.key))
        #expect(dates.map(\.dates) == items.map(\.dates))
        #expect(
            try await engine.fetchItems(keys: [items[2].key, CacheKey("absent"), items[0].key]) == [items[2], items[0]])
    }

    @Test("An existing item gets both dates and keeps its place", arguments: ["sqlite", "disk", "memory"])
    func overwriting(kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = try Self.engine(kind, at: folder)
        try await engine.write([(CacheKey("a"), Data()), (CacheKey("b"), Data())])
        let new = item(CacheKey("a"), "new", 1, 2)
        try await engine.write(items: [item(CacheKey("a"), "old", 3, 4), new])
        #expect(try await engine.fetchItems(keys: [CacheKey("a")]) == [new])
        #expect(try await engine.fetchKeys() == [CacheKey("a"), CacheKey("b")])
        // An ordinary write keeps the first date.
        try await engine.write(Data("newer".utf8), key: CacheKey("a"))
        #expect(try await engine.fetchItems(keys: [CacheKey("a")]) == [item(CacheKey("a"), "newer", 1, 99)])
        try await engine.write(items: [])
    }

    @Test("The dates of other engines are read one by one")
    func others() async throws {
        let folder = TemporaryFolder()
        let engine = try Self.engine("memory", at: folder)
        let plain = PlainEngine(engine).backend
        try await plain.write([(CacheKey("a"), Data([1])), (CacheKey("b"), Data([2]))])
        let (one, other) = (
            try await plain.fetchItems(keys: [CacheKey("b")]), try await engine.fetchItems(keys: [CacheKey("b")])
        )
        #expect(one.map(\.data) == [Data([2])] && one.map(\.dates) == other.map(\.dates))
        #expect(try await plain.fetchAllDates().map(\.key) == [CacheKey("a"), CacheKey("b")])
        #expect(try await plain.fetchAllDates().map(\.dates) == engine.fetchAllDates().map(\.dates))
    }
}
