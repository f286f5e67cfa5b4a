import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Items that are written and read in parts, beyond the checks of the conformance suite.
struct StreamTests {
    private static let large = Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) })
    private let folder = TemporaryFolder()
    private let key = CacheKey("item")

    /// `EMPORIUM_LARGE_ITEMS=1` uses the largest items: a gibibyte on disk, and what SQLite supports.

    @Test(
        .disabled(
            if: ThreadSanitizer.isThere || !FileManager.default.fileExists(atPath: "/proc/self/clear_refs"),
            "The memory of the items can't be measured."),
        arguments: [("disk", 1 << 30), ("sqlite", 999_999_000)])
    func `A large item is written and read in at most 16 mebibytes of memory`(kind: String, count: Int) async throws {
        let count = TestSizes.haveLargestItems ? count : 100_000_000
        // One arena, because glibc keeps what threads have released in each, so that its part depends on the load.
        let child = try Child(
            "stream-large", kind, folder.path, "\(count)", environment: ["MALLOC_ARENA_MAX": "1"])
        let growth = try #require(Int(await child.lines().last ?? ""))
        print("memory for an item of \(count) bytes in \(kind): \(growth) bytes")
        #expect(growth <= 16 << 20)
    }

    @Test func `The tour's snippet writes a file and reads it`() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (video, copy) = (folder.file("video"), folder.file("copy"))
        try Self.large.write(to: video)
        #expect(FileManager.default.createFile(atPath: copy.path, contents: nil))
        let output = try FileHandle(forWritingTo: copy)
        try await engine.write(stream: StorageByteStream(contentsOf: video), key: CacheKey("video"))
        if let stream = try await engine.fetchStream(key: CacheKey("video")) {
            for try await part in stream { try output.write(contentsOf: part) }
        }
        try output.close()
        #expect(try Data(contentsOf: copy) == Self.large)
    }

    @Test(arguments: ["sqlite", "disk"])
    func `A stream that is slow blocks no other writer and no reader`(kind: String) async throws {
        let engine = try openEngine(kind, at: folder)
        // Each part is produced by a write and a read, which would wait forever for a lock that the stream holds.
        let parts = AsyncThrowingStream<Data, any Error> { [numbers = Locked(0)] in
            let number = numbers.withLock { number in
                number += 1
                return number
            }
            if number > 3 { return nil }
            try await engine.write(Data("\(number)".utf8), key: CacheKey("other"))
            #expect(try await engine.fetchCount() == 1)
            return Self.large
        }
        try await engine.write(stream: StorageByteStream(parts), key: key)
        let stream = try #require(try await engine.fetchStream(key: key))
        var read = Data()
        for try await part in stream {
            try await engine.write(part, key: key)
            read += part
        }
        #expect(read == Self.large + Self.large + Self.large)
    }

    @Test(arguments: ["sqlite", "disk"])
    func `A writer that is killed leaves the last item that it has acknowledged, or the next one`(
        kind: String
    ) async throws {
        var random = SeededGenerator(seed: Seed.current)
        print("killed streams: EMPORIUM_SEED=\(Seed.current)")
        var last = 0
        for _ in 0..<5 {
            let child = try Child("stream-versions", kind, folder.path, "\(last + 1)")
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                last = try #require(Int(await child.nextLine() ?? ""))
            }
            child.kill()
            last = await child.lines().last.flatMap(Int.init) ?? last
            let item = try #require(try await openEngine(kind, at: folder).fetch(key: key))
            let version = item.count - 2_000_000
            #expect(version == last || version == last + 1)
            #expect(item == Data(repeating: UInt8(truncatingIfNeeded: version), count: item.count))
            last = version
        }
    }

    @Test(arguments: ["sqlite", "disk"])
    func `A full disk leaves the item unchanged, and no temporary file`(kind: String) async throws {
        let engine = try openEngine(kind, at: folder)
        try await engine.write(Data("old".utf8), key: key)
        let temporary = TemporaryFolder()
        let child = try Child(
            ["stream-limited", kind, folder.path, "3000000", "8000000"], environment: ["TMPDIR": temporary.path])
        #expect(await child.lines() == ["storageFull", "3"])
        #expect(try temporary.names() == [])
        let second = try Child(
            ["stream-limited", kind, folder.path, "100000000", "8000000"], environment: ["TMPDIR": temporary.path])
        #expect(await second.lines() == ["written", "8000000"])
        #expect(try temporary.names() == [])
    }

    @Test(arguments: ["sqlite", "disk"])
    func `Without a folder for temporary files, the write throws and changes nothing`(kind: String) async throws {
        let engine = try openEngine(kind, at: folder)
        try await engine.write(Data("old".utf8), key: key)
        let child = try Child(
            ["stream-limited", kind, folder.path, "100000000", "8000000"],
            environment: ["TMPDIR": folder.file("absent").path])
        #expect(await child.lines() == ["cannotOpen", "3"])
    }

    @Test func `SQLite refuses an item that is larger than it supports, and changes nothing`() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("old".utf8), key: key)
        let file = folder.file("sparse")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        #expect(truncate(file.path, 1_000_000_001) == 0)
        let stream = try StorageByteStream(contentsOf: file)
        let error = await #expect(throws: StorageError.self) { try await engine.write(stream: stream, key: key) }
        #expect(error?.code == .tooLarge)
        #expect(try await engine.fetchAllData() == [Data("old".utf8)])
    }

    @Test func `A table of Bodega 2, and a text of another program, are read and written as streams`() async throws {
        let queue = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE data (
                        key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, createdAt TEXT NOT NULL,
                        updatedAt TEXT NOT NULL
                    );
                    INSERT INTO data VALUES ('text', 'é', '2022-06-22T18:30:00.123', '2022-06-22T18:30:00.123')
                    """)
            try db.execute(
                sql: "INSERT INTO data VALUES ('blob', ?, '2022-06-22T18:30:00.123', '2022-06-22T18:30:00.123')",
                arguments: [Self.large])
        }
        try queue.close()
        let reader = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await reader.fetchStream(key: CacheKey("blob"))?.data() == Self.large)
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        #expect(try await engine.fetchStream(key: CacheKey("text"))?.data() == Data("é".utf8))
        try await engine.write(stream: StorageByteStream(Self.large + Self.large), key: CacheKey("blob"))
        #expect(try await engine.fetch(key: CacheKey("blob")) == Self.large + Self.large)
        #expect(try await engine.fetchKeys() == [CacheKey("text"), CacheKey("blob")])
    }

    @Test func `A streamed item is in the log once, and other collections on the file observe it`() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let cursor = try await engine.fetchCursor()
        let collection = SQLiteCollection(of: engine)
        var place = SQLiteFollowedState.nowhere
        try collection.readUpdate(since: { place }, { place = $0.place })
        try await engine.write(stream: StorageByteStream(Self.large), key: key)
        let delta = try #require(try await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [key])
        try collection.readUpdate(since: { place }) { update in
            #expect(update.changes(after: place)?.map(\.key) == [key])
            #expect(update.items.map(\.key) == [key] && update.items.map(\.data) == [Self.large])
        }
    }

    @Test func `A stream of a file has the bytes of the file that was opened`() async throws {
        let file = folder.file("file")
        try Self.large.write(to: file)
        let stream = try StorageByteStream(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        #expect(stream.count == Self.large.count)
        for _ in 1...2 { #expect(try await stream.data() == Self.large) }

        try Self.large.write(to: file)
        let shortened = try StorageByteStream(contentsOf: file)
        #expect(truncate(file.path, 1_100_000) == 0)
        let error = await #expect(throws: StorageError.self) { try await shortened.data() }
        #expect(error?.code == .inputOutput)
    }

    @Test func `Only a regular file can be a stream`() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for url in [pipe, folder.url] {
            let error = #expect(throws: StorageError.self) { try StorageByteStream(contentsOf: url) }
            #expect(error?.code == .invalidArgument)
        }
        let error = #expect(throws: StorageError.self) { try StorageByteStream(contentsOf: folder.file("absent")) }
        #expect(error?.code == .cannotOpen)
    }

    @Test func `A write of a stream is retried only if the stream can be read again`() async throws {
        let faulty = FaultInjectingStorageEngine(MemoryStorageEngine())
        let engine = faulty.retrying(clock: InstantClock())
        let error = StorageError(.locked, "The engine is locked.")
        faulty.inject(.fail(.writes, .number(1), with: error))
        try await engine.write(stream: StorageByteStream(Self.large), key: key)
        #expect(try await engine.fetch(key: key) == Self.large)
        faulty.clearFaults()
        faulty.inject(.fail(.writes, .number(1), with: error))
        let once = AsyncStream { continuation in
            continuation.yield(Data("new".utf8))
            continuation.finish()
        }
        await #expect(throws: StorageError.self) { try await engine.write(stream: StorageByteStream(once), key: key) }
        #expect(try await engine.fetch(key: key) == Self.large)
    }

    @Test func `Limits count streamed items exactly, and a cache does not return what a stream has replaced`()
        async throws
    {
        let base = MemoryStorageEngine()
        let engine = base.limited(bytes: 3_000_000).cached(bytes: 1_000_000)
        try await engine.write(Data("old".utf8), key: key)
        #expect(try await engine.fetch(key: key) == Data("old".utf8))
        try await engine.write(stream: StorageByteStream(Self.large), key: key)
        #expect(try await engine.fetch(key: key) == Self.large)
        for stream in [
            StorageByteStream(Self.large),
            StorageByteStream(
                AsyncStream { [parts = Locked([Self.large])] in
                    parts.withLock { $0.popLast() }
                }),
        ] {
            try await engine.write(stream: stream, key: CacheKey("\(stream.count ?? 0)"))
            #expect(try await base.fetchCount() == 1)
        }
        let tooLarge = StorageByteStream(Self.large + Self.large)
        let error = await #expect(throws: StorageError.self) { try await engine.write(stream: tooLarge, key: key) }
        #expect(error?.code == .tooLarge)
        #expect(try await base.fetchKeys() == [CacheKey("0")])
    }
}
