@testable import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Clocks and dates far from now: before 1970, and beyond the years that 64 bits of nanoseconds can count.
@Suite struct FarDateTests {

    private let folder = TemporaryFolder()

    /// Times in nanoseconds since 1970, as a clock of 64 bits reports them: the years 1678, 1969, 2117, 2200, 2262.
    private static let farTimes = [
        Int64.min, -1, 4_638_873_600_000_000_000, 7_258_118_400_000_000_000, .max - 1, .max,
    ]

    private func names(in folder: DiskFolder) throws -> [String] { try folder.allKeys().map(\.rawValue) }

    @Test(
        "New items of a folder come last with any clock, also after it was set back", arguments: farTimes,
        [true, false])
    func order(time: Int64, reopens: Bool) throws {
        let clock = Locked<Int64>(0)
        func open() -> DiskFolder { DiskFolder(url: folder.url, durability: .relaxed) { clock.withLock { $0 } } }
        var core = open()
        // The names are in no order of their own.
        let written = ["d", "a", "c", "b", "f", "e"]
        for (name, now) in zip(written, [1_000, time, time, 2_000, time, 3_000]) {
            clock.withLock { $0 = now }
            if reopens { core = open() }
            try core.apply([.write(key: CacheKey(verbatim: name), data: Data(name.utf8))], at: Date())
            #expect(try names(in: core).last == name)
        }
        #expect(try names(in: core) == written)
        #expect(try names(in: DiskFolder(url: folder.url, durability: .relaxed)) == written)
    }

    @Test("A folder whose last order number is of no use stays usable", arguments: [Int64.max, .max - 1, .min, -1])
    func foreignNumber(number: Int64) throws {
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        try core.withFolder { DiskAttribute.setLastOrder(number, of: $0) }
        for name in ["b", "a"] { try core.apply([.write(key: CacheKey(verbatim: name), data: Data())], at: Date()) }
        #expect(try names(in: core) == ["b", "a"])
    }

    private static let texts = [
        "0001-01-01T00:00:00Z", "1677-01-01T12:00:00Z", "1969-12-31T23:59:59Z", "2116-05-05T05:05:05Z",
        "2262-04-11T23:47:17Z", "2300-07-01T00:00:01Z", "9999-12-31T23:59:59Z",
    ]

    @Test("Engines keep dates of any year from 1 to 9999", arguments: ["memory", "disk", "sqlite"], texts)
    func dates(kind: String, text: String) async throws {
        let date = try #require(ISO8601DateFormatter().date(from: text))
        let now: @Sendable () -> Date = { date }
        let engine: any StorageBackend =
            switch kind {
            case "memory": MemoryStorageEngine(now: now)
            case "disk": try DiskStorageEngine(opening: folder.directory, now: now)
            default: try SQLiteStorageEngine(opening: folder.directory, now: now)
            }
        try await engine.write(Data(), key: CacheKey("written"))
        let dates = StorageDates(createdAt: date, updatedAt: date)
        try await engine.write(items: [StorageItem(key: CacheKey("dated"), data: Data(), dates: dates)])
        let found = try await engine.fetchAllDates()
        #expect(found.map(\.key) == [CacheKey("written"), CacheKey("dated")])
        #expect(found.allSatisfy { $0.dates == dates }, "\(found)")
    }

    @Test("The date of a file of another program is the file's", arguments: [10_413_792_000, -86_400])
    func fileDate(seconds: Int) async throws {
        try Data("1".utf8).write(to: folder.file("a"))
        let time = timeval(tv_sec: seconds, tv_usec: 0)
        #expect(utimes(folder.file("a").path, [time, time]) == 0)
        var status = stat()
        #expect(stat(folder.file("a").path, &status) == 0)
        #if canImport(Darwin)
        let kept = status.st_mtimespec.tv_sec
        #else
        let kept = status.st_mtim.tv_sec
        #endif
        let dates = try await DiskStorageEngine(opening: folder.directory).fetchDates(key: CacheKey(verbatim: "a"))
        #expect(dates?.updatedAt == Date(timeIntervalSince1970: TimeInterval(kept)))
    }
}
