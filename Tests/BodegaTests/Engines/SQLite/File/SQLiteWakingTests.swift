import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// When followers of an SQLite file are woken up, with events and time under the test's control.
@Suite struct SQLiteWakingTests {

    private let folder = TemporaryFolder()
    private let data = Data("data".utf8)
    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func foreignQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: folder.file("data.sqlite3").path, configuration: configuration)
    }

    private static func insert(into table: String = "data", _ db: Database) throws {
        try db.execute(sql: "INSERT INTO \(table) (key, value, createdAt, updatedAt) VALUES ('a', x'00', '', '')")
    }

    @Test("A commit that becomes visible only after its last event is signaled")
    func visibleLater() async throws {
        let (engine, hand, other) = (try open(), Hand(), try foreignQueue())
        _ = try await engine.fetchCursor()
        engine.core.watch.begin(on: engine.core, in: hand.surroundings)
        var signals = engine.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        #expect(await hand.nextPause() == 1)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            try Self.insert(db)
        }
        // The system reports the frames in the WAL.
        hand.tell()
        #expect(await hand.nextPause() == 1)
        hand.fire()
        #expect(await hand.nextPause() == 2)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        hand.fire()
        _ = await signals.next()
        #expect(await hand.nextPause() == 4)
    }

    @Test("A follower that registers while the file is checked misses nothing")
    func secondCollection() async throws {
        let (engine, hand, other) = (try open(), Hand(), try foreignQueue())
        let second = try engine.collection(named: "second")
        for one in [engine, second] { _ = try await one.fetchCursor() }
        engine.core.watch.begin(on: engine.core, in: hand.surroundings)
        var signals = engine.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        _ = await hand.nextPause()
        // No connection is free for reading, so the check waits.
        let release = DispatchSemaphore(value: 0)
        let (entered, continuation) = AsyncStream.makeStream(of: Void.self)
        let readers = (0..<SQLiteConnectionPool.maximumReaderCount).map { _ in
            Task {
                try await engine.core.readLoosely { _ in
                    continuation.yield()
                    release.wait()
                }
            }
        }
        var count = 0
        for await _ in entered {
            count += 1
            if count == readers.count { break }
        }
        hand.tell()
        await hand.drain()
        var later = second.changeSignals().makeAsyncIterator()
        _ = await later.next()
        try await other.write { try Self.insert(into: "emporium_collection_1", $0) }
        for _ in readers { release.signal() }
        for reader in readers { try await reader.value }
        _ = await later.next()
    }

    @Test("Pauses grow from a millisecond, and are reset by an event")
    func pauses() {
        func pauses(_ longest: Int?, _ count: Int) -> [Int?] {
            var pauses = FileWatch.Pauses(longest: longest)
            return (0..<count).map { _ in pauses.next() }
        }
        #expect(pauses(2_000, 12) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 2_000, 2_000])
        #expect(pauses(40, 8) == [1, 2, 4, 8, 16, 32, 40, 40])
        #expect(pauses(nil, 12) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, nil, nil])
        var growing = FileWatch.Pauses(longest: 40)
        for _ in 0..<20 { _ = growing.next() }
        growing.begin()
        #expect(growing.next() == 1 && growing.next() == 2)
    }

    @Test("Many files are watched simultaneously, each for its own followers")
    func manyFiles() async throws {
        var kept: [(TemporaryFolder, SQLiteStorageEngine, AsyncStream<Void>)] = []
        for _ in 0..<20 {
            let folder = TemporaryFolder()
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            engine.core.watch.begin(on: engine.core, in: FileWatch.Surroundings(longestPause: nil))
            _ = try await engine.fetchCursor()
            kept.append((folder, engine, engine.changeSignals()))
        }
        // Otherwise a commit could become visible a long time after its last event, if the disk is busy.
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        for (folder, engine, stream) in kept {
            var signals = stream.makeAsyncIterator()
            _ = await signals.next()
            let other = try DatabaseQueue(path: folder.file("data.sqlite3").path, configuration: configuration)
            try await other.write { try Self.insert($0) }
            _ = await signals.next()
            try await engine.close()
        }
    }
}

/// Events and time under the control of a test.
private final class Hand: Sendable {

    private struct State: Sendable {
        var queue: DispatchQueue?
        var tell: (@Sendable () -> Void)?
        var fire: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let pauses: AsyncStream<Int?>
    private let continuation: AsyncStream<Int?>.Continuation

    init() { (pauses, continuation) = AsyncStream.makeStream(of: Int?.self) }

    var surroundings: FileWatch.Surroundings {
        var surroundings = FileWatch.Surroundings()
        surroundings.makeEvents = { [self] _, _, queue, tell in
            state.withLock { ($0.queue, $0.tell) = (queue, tell) }
            return Events()
        }
        surroundings.makeTimer = { [self] _, fire in
            state.withLock { $0.fire = fire }
            return Timer(continuation: continuation)
        }
        return surroundings
    }

    /// The pause after the next check.
    func nextPause() async -> Int? {
        var iterator = pauses.makeAsyncIterator()
        return await iterator.next() ?? nil
    }

    func tell() { run(\.tell) }
    func fire() { run(\.fire) }

    private func run(_ action: (State) -> (@Sendable () -> Void)?) {
        let state = state.withLock { $0 }
        if let action = action(state) { state.queue?.async(execute: action) }
    }

    /// Gives a check the time to begin; then it waits for a connection.
    func drain() async {
        for _ in 0..<10_000 { await Task.yield() }
    }

    private struct Events: FileEvents {
        func cancel() {}
    }

    private struct Timer: FileWatchTimer {
        let continuation: AsyncStream<Int?>.Continuation
        func schedule(after milliseconds: Int?) { continuation.yield(milliseconds) }
        func cancel() {}
    }
}
