import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite struct DiskRecordCacheTests {

    private let folder = TemporaryFolder()

    /// Creates a file with a record, on a volume with attributes.
    private func withFile(_ body: (Int32, stat) throws -> Void) throws {
        let descriptor = open(folder.file("file").path, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        let record = DiskRecord(key: CacheKey(verbatim: "file"), order: 1, createdAt: 2, updatedAt: 3)
        try #require(
            DiskAttribute.set(record.bytes, of: descriptor),
            "The volume for temporary files has no extended attributes. Use another one.")
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        try body(descriptor, status)
    }

    private func now() -> Int64 { DiskFolder.nanoseconds() }
    private let minute: Int64 = 60_000_000_000

    @Test("The record of a file that has not changed for a long time is read once")
    func old() throws {
        try withFile { descriptor, status in
            let cache = DiskRecordCache()
            let first = cache.read(at: now() + minute, count: 1)
            let found = try first.record(of: descriptor, status)
            #expect(found?.order == 1)
            cache.end(first, count: 1)
            _ = DiskAttribute.set([], of: descriptor)
            let known = try cache.read(at: now() + minute, count: 1).record(of: descriptor, status)
            #expect(known?.order == 1)
            var changed = status
            changed.st_ino += 1
            let other = try cache.read(at: now() + minute, count: 1).record(of: descriptor, changed)
            #expect(other == nil)
        }
    }

    @Test("The record of a file that has just changed is read each time, because another change may look the same")
    func young() throws {
        try withFile { descriptor, status in
            let cache = DiskRecordCache()
            let time = DiskRecordCache.Stamp(status).time
            let first = cache.read(at: time, count: 1)
            let found = try first.record(of: descriptor, status)
            #expect(found?.order == 1)
            cache.end(first, count: 1)
            _ = DiskAttribute.set([], of: descriptor)
            let changed = try cache.read(at: time, count: 1).record(of: descriptor, status)
            #expect(changed == nil)
        }
    }

    @Test("The records of very many files are not cached")
    func tooMany() throws {
        try withFile { descriptor, status in
            let cache = DiskRecordCache()
            let first = cache.read(at: now() + minute, count: 1_000_000)
            _ = try first.record(of: descriptor, status)
            cache.end(first, count: 1_000_000)
            _ = DiskAttribute.set([], of: descriptor)
            let changed = try cache.read(at: now() + minute, count: 1_000_000).record(of: descriptor, status)
            #expect(changed == nil)
        }
    }

    @Test(
        "The cache is emptied when there are very many files, or hardly any left",
        arguments: [1_000_000, 0])
    func forgetting(count: Int) throws {
        try withFile { descriptor, status in
            let cache = DiskRecordCache()
            let first = cache.read(at: now() + minute, count: 1)
            _ = try first.record(of: descriptor, status)
            cache.end(first, count: 1)
            cache.end(cache.read(at: now() + minute, count: count), count: count)
            _ = DiskAttribute.set([], of: descriptor)
            let changed = try cache.read(at: now() + minute, count: 1).record(of: descriptor, status)
            #expect(changed == nil)
        }
    }

    @Test("Items can be overwritten, removed and written again between readings of a folder")
    func changes() throws {
        // A clock with which no file seems to have changed recently.
        let core = DiskFolder(
            url: folder.url, durability: .relaxed, clock: { DiskFolder.nanoseconds() + 60_000_000_000 })
        func write(_ names: String...) throws {
            try core.apply(names.map { .write(key: CacheKey(verbatim: $0), data: Data($0.utf8)) }, at: Date())
        }
        try write("a", "b", "c")
        #expect(try core.allKeys().map(\.rawValue) == ["a", "b", "c"])
        try write("b")
        #expect(try core.allKeys().map(\.rawValue) == ["a", "b", "c"])
        try core.apply([.remove(key: CacheKey(verbatim: "a"))], at: Date())
        try write("d", "a")
        #expect(try core.allKeys().map(\.rawValue) == ["b", "c", "d", "a"])
        #expect(try core.allItems().map { String(decoding: $0.data, as: UTF8.self) } == ["b", "c", "d", "a"])
    }
}
