import Bodega
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Tests of read-only engines on a folder.
@Suite struct DiskReadingTests {

    private func code(of error: any Error) -> StorageError.Code? { (error as? StorageError)?.code }

    @Test("A read-only engine changes nothing in its folder, not even the leftovers of a crash")
    func staysUnchanged() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1-disk"), to: folder.file("items"))
        let directory = FileManager.Directory(url: folder.file("items"))
        let control = folder.file("items/.emporium")
        try FileManager.default.createDirectory(
            at: control.appendingPathComponent("staging"), withIntermediateDirectories: true)
        try Data("half".utf8).write(to: control.appendingPathComponent("item"))
        let before = try Listing(of: folder.url)
        do {
            let engine = try DiskStorageEngine(reading: directory)
            let items = try await engine.fetchAll()
            #expect(!items.isEmpty)
            for (key, data) in items { #expect(try await engine.fetch(key: key) == data) }
            #expect(try await engine.fetchCount() == items.count)
            await #expect { try await engine.write(Data(), key: CacheKey("b")) } throws: { code(of: $0) == .readOnly }
        }
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("A missing folder is not created")
    func absent() throws {
        let folder = TemporaryFolder()
        let absent = FileManager.Directory(url: folder.file("absent"))
        #expect { try DiskStorageEngine(reading: absent) } throws: { code(of: $0) == .cannotOpen }
        #expect(try folder.names() == [])
    }

    @Test("A folder with an interrupted batch is not read before the batch is finished")
    func interruptedBatch() async throws {
        let folder = TemporaryFolder()
        try await DiskStorageEngine(opening: folder.directory).write(Data("a".utf8), key: CacheKey(verbatim: "a"))
        let batch = folder.file(".emporium/commit")
        try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
        try Data("2".utf8).write(to: batch.appendingPathComponent("0"))
        try Data("Wa\0E".utf8).write(to: batch.appendingPathComponent("list"))
        let before = try Listing(of: folder.url)
        let engine = try DiskStorageEngine(reading: folder.directory)
        await #expect { try await engine.fetchAll() } throws: { code(of: $0) == .cannotOpen }
        await #expect { try await engine.fetch(key: CacheKey(verbatim: "a")) } throws: { code(of: $0) == .cannotOpen }
        #expect(try Listing(of: folder.url) == before)
        _ = try DiskStorageEngine(opening: folder.directory)
        #expect(try await engine.fetchAllData() == [Data("2".utf8)])
    }

    @Test("A folder without write permission can be read")
    func permissions() async throws {
        let folder = TemporaryFolder()
        try await DiskStorageEngine(opening: folder.directory).write(Data("a".utf8), key: CacheKey("a"))
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer { chmod(folder.path, 0o755) }
        let lines = await (try Child("unprivileged", "disk-reading", folder.path)).lines()
        #expect(lines == ["opened", "count 1", "error readOnly"])
    }

    @Test("Each read sees whole batches while another process writes")
    func batches() async throws {
        let folder = TemporaryFolder()
        let child = try Child("write", "disk", folder.path, "relaxed", "r", "100000")
        _ = await child.nextLine()
        let engine = try DiskStorageEngine(reading: folder.directory)
        for _ in 0..<40 {
            var batches: [Substring: Int] = [:]
            for key in try await engine.fetchKeys() {
                guard let range = key.rawValue.range(of: "-batch-") else { continue }
                batches[key.rawValue[..<range.lowerBound], default: 0] += 1
            }
            #expect(batches.allSatisfy { $0.value == 5 }, "half a batch: \(batches)")
        }
        child.kill()
        _ = await child.lines()
    }

    #if canImport(Glibc)
    @Test("All items, and their data, are read with one opening of each file")
    func openings() async throws {
        let folder = TemporaryFolder()
        let engine = try DiskStorageEngine(opening: folder.directory)
        let items = (0..<100).map { (key: CacheKey("\($0)"), data: Data("\($0)".utf8)) }
        try await engine.write(items)
        let watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        try #require(watch >= 0)
        defer { close(watch) }
        try #require(inotify_add_watch(watch, folder.path, UInt32(IN_OPEN)) >= 0)
        #expect(try await engine.fetchAllData() == items.map(\.data))
        #expect(openings(watch) == 100)
        #expect(try await engine.fetchAll().map(\.data) == items.map(\.data))
        #expect(openings(watch) == 100)
    }

    /// How often files in the folder were opened since the last call.
    private func openings(_ watch: Int32) -> Int {
        var count = 0
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while true {
                let end = read(watch, buffer.baseAddress, buffer.count)
                if end <= 0 { return }
                var offset = 0
                while offset < end {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    // The folder itself has no name, and is a directory like the one for control files.
                    if event.len > 0, event.mask & UInt32(IN_ISDIR) == 0 { count += 1 }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        return count
    }
    #endif
}
