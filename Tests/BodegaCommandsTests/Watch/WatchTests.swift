#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("Watching")
struct WatchTests {

    @Test("shows each key that is inserted, updated or removed, with the time", arguments: storeAddresses)
    func changes(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            try await WatchRun.expectChanges(of: address(folder))
        }
    }

    @Test("shows each change of a followed file immediately and in order, and leaves no trace")
    func history() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        try await engine.write(Data([1]), key: a)
        _ = try await engine.fetchCursor()
        let run = await WatchRun(engine.file.path, interval: "86400")
        try await engine.apply([
            .write(key: b, data: Data([1])), .remove(key: a), .write(key: b, data: Data([2])),
            .write(key: a, data: Data([2])),
        ])
        for line in ["inserted  b", "removed   a", "updated   b", "inserted  a"] { #expect(await run.next() == line) }
        try await engine.removeAllData()
        for line in ["removed   b", "removed   a"] { #expect(await run.next() == line) }
        let before = try Listing(of: folder.url)
        #expect(await run.end() == 0)
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("uses a file's log from when a program begins to follow it")
    func lateHistory() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let run = await WatchRun(engine.file.path)
        try await engine.write(Data([1]), key: CacheKey("a"))
        #expect(await run.next() == "inserted  a")
        _ = try await engine.fetchCursor()
        for round in 0..<5 {
            try await engine.write(Data([2]), key: CacheKey("a"))
            try await engine.write(Data([2]), key: CacheKey("b\(round)"))
            var lines: [String?] = []
            while lines.last != "inserted  b\(round)" { lines.append(await run.next()) }
        }
        #expect(await run.end() == 0)
    }

    @Test("prints JSON with the time of the write")
    func json() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: [1])
            let run = await WatchRun(store, "--json")
            _ = await bodega("put", store, "--verbatim", "b\n", input: [1])
            let date = try #require(
                try await StorageAddress(parsing: store).openForReading().fetchDates(key: CacheKey(verbatim: "b\n")))
            let line = try #require(await run.nextRaw())
            let time = ItemLine.timestamp(date.updatedAt)
            #expect(line == #"{"time":"\#(time)","change":"inserted","key":"b\n","kind":"verbatim"}"#)
            #expect(await run.end() == 0)
        }
    }

    @Test("sees the writes of another process that keeps the file open, and changes nothing")
    func otherProcess() async throws {
        let folder = TemporaryFolder()
        let input = Pipe.separate()
        let child = try Child(["hold", "sqlite", folder.path], input: input)
        #expect(await child.nextLine() == "opened")
        let run = await WatchRun(folder.path + "/data.sqlite3")
        for key in ["x", "y"] {
            try input.fileHandleForWriting.write(contentsOf: Data("\(key)\n".utf8))
            #expect(await child.nextLine() == "written")
            #expect(await run.next() == "inserted  \(key)")
        }
        let before = try Listing(of: folder.url)
        #expect(await run.end() == 0)
        #expect(try Listing(of: folder.url) == before)
        try input.fileHandleForWriting.close()
        _ = await child.lines()
    }

    @Test("ends when the reader of its output closes it, even without changes")
    func abandoned() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: [1])
            let run = await WatchRun(store, output: AbandonedSink())
            #expect(await run.status == 141)
        }
    }

    @Test("ends when the store is removed, and does not begin without one")
    func gone() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            #expect(await WatchRun(store).status == 1)
            _ = await bodega("put", store, "a", input: [1])
            let run = await WatchRun(store)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("store.db"))
            #expect(await run.status == 1)
            #expect(run.errors.text.hasPrefix("bodega: There is no store at "))
            #expect(await bodega("watch", store, "--interval", "0").status == 64)
        }
    }

    /// A pipe whose reader has closed it.
    private final class AbandonedSink: ByteSink {
        func write(_ bytes: UnsafeRawBufferPointer) {}
        var isAbandoned: Bool { true }
    }
}
#endif
