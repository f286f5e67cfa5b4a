import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// Tests of the first Bodega's defects, by the numbers of the project's list. Each test fails with the first Bodega.
@Suite struct DefectTests {

    @Test("Defect 4: a read of a damaged database throws and does not return an empty result")
    func failureIsNotAbsence() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        try await DatabaseQueue(path: engine.file.path).write { db in try db.execute(sql: "DROP TABLE data") }
        await #expect(throws: StorageError.self) { try await engine.fetch(key: CacheKey("a")) }
        await #expect(throws: StorageError.self) { try await engine.fetchAll() }
        await #expect(throws: StorageError.self) { try await engine.fetchKeys() }
        await #expect(throws: StorageError.self) { try await engine.fetchCount() }
        await #expect(throws: StorageError.self) { try await engine.fetchDates(key: CacheKey("a")) }
        await #expect(throws: StorageError.self) { try await ObjectStorage<String>(storage: engine).fetchAllObjects() }
    }

    @Test("Defect 5: one call takes any number of keys", arguments: ["sqlite", "disk", "memory"])
    func manyKeys(kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
        // SQLite binds at most 32,766 variables by default, on some systems 250,000.
        let keys = (0..<(kind == "sqlite" ? 260_000 : 40_000)).map { CacheKey("\($0)") }
        try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        #expect(try await engine.fetchAllData().count == keys.count)
        #expect(try await engine.fetch(keys: keys).map(\.key) == keys)
        #expect(await engine.keysExist(keys) == keys)
        try await engine.remove(keys: keys)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test("Defect 6: items come back in insertion order after a relaunch", arguments: ["sqlite", "disk"])
    func order(kind: String) async throws {
        let folder = TemporaryFolder()
        let keys = ["zebra", "ant", "bee", "cat"].map { CacheKey($0) }
        do {
            let engine = try openEngine(kind, at: folder)
            for key in keys { try await engine.write(Data(key.rawValue.utf8), key: key) }
            try await engine.write(Data("ZEBRA".utf8), key: keys[0])
        }
        let engine = try openEngine(kind, at: folder)
        #expect(await engine.allKeys() == keys)
        #expect(
            await engine.readAllData().map { String(decoding: $0, as: UTF8.self) } == ["ZEBRA", "ant", "bee", "cat"])
    }

    @Test("Defect 6: items read by keys can be matched to them", arguments: ["sqlite", "disk"])
    func orderOfKeys(kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = try openEngine(kind, at: folder)
        for name in ["a", "b", "c"] { try await engine.write(Data(name.utf8), key: CacheKey(name)) }
        let wanted = ["c", "missing", "a", "c"].map { CacheKey($0) }
        #expect(await engine.read(keys: wanted) == ["c", "a", "c"].map { Data($0.utf8) })
        #expect(await engine.readDataAndKeys(keys: wanted).map(\.key) == ["c", "a", "c"].map { CacheKey($0) })
    }

    @Test("Defect 7: the dates are the item's own and overwriting keeps the first", arguments: ["sqlite", "disk"])
    func dates(kind: String) async throws {
        let folder = TemporaryFolder()
        let date = DateBox(Date(timeIntervalSince1970: 1_000_000))
        let engine: any StorageEngine =
            kind == "sqlite"
            ? try SQLiteStorageEngine(opening: folder.directory, now: { date.value })
            : try DiskStorageEngine(opening: folder.directory, now: { date.value })
        date.value += 10
        try await engine.write(Data(), key: CacheKey("a"))
        date.value += 10
        try await engine.write([(CacheKey("b"), Data()), (CacheKey("c"), Data())])
        date.value += 10
        try await engine.write([(CacheKey("a"), Data()), (CacheKey("b"), Data())])
        let times = { (seconds: [Double]) in seconds.map { Date(timeIntervalSince1970: 1_000_000 + $0) } }
        var created: [Date?] = []
        var updated: [Date?] = []
        for name in ["a", "b", "c"] {
            created.append(await engine.createdAt(key: CacheKey(name)))
            updated.append(await engine.updatedAt(key: CacheKey(name)))
        }
        #expect(created == times([10, 20, 20]))
        #expect(updated == times([30, 30, 20]))
    }

    @Test("Defect 8: the disk engine lists the keys that were written, and they exist")
    func keysOnDisk() async throws {
        let folder = TemporaryFolder()
        let keys = [CacheKey("ordinary"), CacheKey(verbatim: "file.txt"), CacheKey(rawValue: "a.org", kind: .url)]
        try await DiskStorageEngine(directory: folder.directory).write(keys.map { ($0, Data()) })
        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(await engine.allKeys() == keys)
        #expect(await engine.keysExist(keys) == keys)
    }

    @Test("Defect 8: www. counts everywhere but at the start of the host")
    func differentURLs() throws {
        let urls = ["https://a.org/www.b", "https://a.org/b", "https://awww.org", "https://aorg"]
        let values = try urls.map { CacheKey(url: try #require(URL(string: $0))).value }
        #expect(Set(values).count == urls.count)
    }
}

/// A date that a test changes.
final class DateBox: @unchecked Sendable {
    // @unchecked because each test changes it between awaited calls only.
    var value: Date
    init(_ value: Date) { self.value = value }
}
