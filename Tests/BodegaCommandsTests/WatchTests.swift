#if CommandLineTool
import Bodega
import BodegaCommands
import Foundation
import TestSupport
import Testing

#if Postgres
import PostgresTesting
#endif

@Suite("Watching", .timeLimit(.minutes(30)))
struct WatchTests {

    /// A run of `bodega watch` in this process, whose lines are awaited.
    private final class Run: Sendable {
        private let task: Task<Int32, Never>
        private let interruption = Interruption()
        private let sink = LineSink()
        let errors = MemorySink()

        init(_ arguments: String..., interval: String = "0.01", output: (any ByteSink)? = nil) async {
            let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
            var console = Console(input: MemorySource([]), output: output ?? sink, errors: errors) { 0 }
            console.interruption = interruption
            console.onReady = { continuation.finish() }
            task = Task { [console, sink] in
                let status = await Tool.run(["watch", "--interval", interval] + arguments, console: console)
                continuation.finish()
                sink.finish()
                return status
            }
            for await _ in ready {}
        }

        /// The next line, without the time at its start.
        func next() async -> String? {
            await sink.next().map { String($0.dropFirst(26)) }
        }

        func nextRaw() async -> String? {
            await sink.next()
        }

        func end() async -> Int32 {
            interruption.interrupt(.interrupted)
            return await task.value
        }

        var status: Int32 { get async { await task.value } }
    }

    @Test("shows each key that is inserted, updated or removed, with the time", arguments: storeAddresses)
    func changes(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            _ = await bodega("put", store, "a", input: [1])
            let run = await Run(store)
            _ = await bodega("put", store, "b", input: [1])
            #expect(await run.next() == "inserted  b")
            _ = await bodega("put", store, "a", input: [2])
            #expect(await run.next() == "updated   a")
            _ = await bodega("rm", store, "b")
            #expect(await run.next() == "removed   b")
            #expect(await run.end() == 0)
            #expect(run.errors.text.isEmpty)
        }
    }

    #if Postgres
    @Test("shows what is inserted, updated or removed in a database")
    func database() async throws {
        let store = try await PostgresServer.shared().makeDatabase().url
        _ = await bodega("put", store, "a", input: [1])
        let run = await Run(store)
        _ = await bodega("put", store, "b", input: [1])
        #expect(await run.next() == "inserted  b")
        _ = await bodega("put", store, "a", input: [2])
        #expect(await run.next() == "updated   a")
        _ = await bodega("rm", store, "b")
        #expect(await run.next() == "removed   b")
        #expect(await run.end() == 0)
        #expect(run.errors.text.isEmpty)
    }
    #endif

    @Test("shows each change of a file that somebody follows, at once and in order, and leaves no trace")
    func history() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        try await engine.write(Data([1]), key: a)
        _ = try await engine.fetchCursor()
        let run = await Run(engine.file.path, interval: "86400")
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

    @Test("follows a file from when somebody begins to")
    func lateHistory() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let run = await Run(engine.file.path)
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
            let run = await Run(store, "--json")
            _ = await bodega("put", store, "--verbatim", "b\n", input: [1])
            let date = try #require(
                try await StorageAddress(parsing: store).openForReading().fetchDates(key: CacheKey(verbatim: "b\n")))
            let line = try #require(await run.nextRaw())
            #expect(
                line
                    == #"{"time":"\#(ItemLine.timestamp(date.updatedAt))","change":"inserted","key":"b\n","kind":"verbatim"}"#
            )
            #expect(await run.end() == 0)
        }
    }

    @Test("sees the writes of another process that keeps the file open, and changes nothing")
    func otherProcess() async throws {
        let folder = TemporaryFolder()
        let input = Pipe()
        let child = try Child(["hold", "sqlite", folder.path], input: input)
        #expect(await child.nextLine() == "opened")
        let run = await Run(folder.path + "/data.sqlite3")
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

    @Test("ends when nobody reads its output, though nothing changes")
    func abandoned() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: [1])
            let run = await Run(store, output: AbandonedSink())
            #expect(await run.status == 141)
        }
    }

    @Test("ends when the store goes away, and does not begin without one")
    func gone() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            #expect(await Run(store).status == 1)
            _ = await bodega("put", store, "a", input: [1])
            let run = await Run(store)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("store.db"))
            #expect(await run.status == 1)
            #expect(run.errors.text.hasPrefix("bodega: There is no store at "))
            #expect(await bodega("watch", store, "--interval", "0").status == 64)
        }
    }

    /// A pipe whose reader went away.
    private final class AbandonedSink: ByteSink {
        func write(_ bytes: UnsafeRawBufferPointer) {}
        var isAbandoned: Bool { true }
    }

    /// Hands on whole lines, one by one.
    private final class LineSink: ByteSink {
        private struct State {
            var lines: [String] = []
            var isFinished = false
            var waiting: CheckedContinuation<String?, Never>?
        }

        private let state = Locked(State())

        func write(_ bytes: UnsafeRawBufferPointer) {
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { add(String(line)) }
        }

        private func add(_ line: String) {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                if state.waiting == nil { state.lines.append(line) }
                return state.waiting
            }
            waiting?.resume(returning: line)
        }

        /// The next line, `nil` when there is none any more.
        func next() async -> String? {
            await withCheckedContinuation { continuation in
                let line = state.withLock { state -> String?? in
                    if !state.lines.isEmpty { return .some(state.lines.removeFirst()) }
                    if state.isFinished { return .some(nil) }
                    state.waiting = continuation
                    return nil
                }
                if let line { continuation.resume(returning: line) }
            }
        }

        func finish() {
            let waiting = state.withLock { state in
                state.isFinished = true
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: nil)
        }
    }
}
#endif
