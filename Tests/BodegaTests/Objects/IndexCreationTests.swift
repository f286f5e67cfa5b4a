import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import Bodega

@Suite("Indexes that a query creates")
struct IndexCreationTests {

    private struct Note: Queryable {
        var rank: Int
        var title: String
        static let indexes = [Index("rank", \Note.rank), Index("title", \Note.title)]
    }

    /// An engine on which the index over one path can't be created while another program holds the lock.
    private struct LockedEngine: ForwardingStorageEngine {
        let base: any StorageBackend
        let attempts = Locked(0)
        let isLocked = Locked(true)

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            if case .createIndex(let index) = call, index.path == "rank" {
                attempts.withLock { $0 += 1 }
                if isLocked.withLock({ $0 }) { throw StorageError(.locked, "Another program kept the lock.") }
            }
            return try await body()
        }
    }

    private func wait(until condition: () async throws -> Bool) async throws {
        while try await !condition() { await Task.yield() }
    }

    @Test("are tried again by a query after a pause, and reported once")
    func again() async throws {
        let folder = TemporaryFolder()
        let engine = LockedEngine(base: try SQLiteStorageEngine(openingFile: folder.file("notes")))
        let clock = InstantClock()
        let levels = Locked<[Logger.Level]>([])
        let logger = Logger { level, _ in levels.withLock { $0.append(level) } }
        let creation = IndexCreation(clock: clock, logger: logger)
        let notes = ObjectStorage<Note>(storage: engine, indexCreation: creation)
        let query = Query<Note>(where: #Predicate { $0.rank > 1 })

        _ = try await notes.fetch(query)
        try await wait { creation.isPausing }
        // The other index does not depend on the failed one.
        #expect(try await engine.fetchIndexes().map(\.path) == ["title"])
        #expect(levels.withLock { $0 } == [.warning])
        for _ in 0..<3 { _ = try await notes.count(query) }
        #expect(engine.attempts.withLock { $0 } == 1)

        clock.advance(by: .seconds(11))
        #expect(try await !notes.exists(query))
        try await wait { creation.isPausing }
        #expect(engine.attempts.withLock { $0 } == 2)
        #expect(levels.withLock { $0 } == [.warning, .debug])

        engine.isLocked.withLock { $0 = false }
        clock.advance(by: .seconds(11))
        _ = try await notes.first(query)
        try await wait { try await engine.fetchIndexes().count == 2 }
        for _ in 0..<3 { _ = try await notes.maximum(of: \.rank) }
        #expect(engine.attempts.withLock { $0 } == 3)
    }

    @Test("are tried again after another program held the lock of the file")
    func foreignLock() async throws {
        let folder = TemporaryFolder()
        let other = try SQLiteStorageEngine(openingFile: folder.file("notes"))
        let engine = try SQLiteStorageEngine(openingFile: folder.file("notes"), lockTimeout: 0)
        let clock = InstantClock()
        let creation = IndexCreation(clock: clock, logger: Logger { _, _ in })
        let notes = ObjectStorage<Note>(storage: engine, indexCreation: creation)
        let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holding = Thread {
            do {
                try other.core.blockingWriteUnreported { _ in
                    isHeld.signal()
                    mayEnd.wait()
                }
            } catch { Issue.record(error) }
        }
        holding.start()
        await withCheckedContinuation { continuation in
            Thread {
                isHeld.wait(); continuation.resume()
            }.start()
        }
        _ = try await notes.fetch(Query(sortedBy: SortDescriptor(\.rank)))
        try await wait { creation.isPausing }
        #expect(try await engine.fetchIndexes().isEmpty)
        mayEnd.signal()
        try await other.write(Data(#"{"rank":1,"title":""}"#.utf8), key: CacheKey("a"))
        clock.advance(by: .seconds(11))
        _ = try await notes.fetch(Query(sortedBy: SortDescriptor(\.rank)))
        try await wait { try await engine.fetchIndexes().count == 2 }
    }
}
