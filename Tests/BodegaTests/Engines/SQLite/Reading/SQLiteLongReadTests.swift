import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite("Reads of many items in SQLite")
struct SQLiteLongReadTests {

    @Test("don't hold up reads of one item, any number of them", .timeLimit(.minutes(5)))
    func oneItem() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("data.sqlite3"))
        // A small file is read on the thread of the caller.
        let data = Data(repeating: 1, count: 200_000)
        try await engine.write(data, key: CacheKey("a"))

        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let isOver = DispatchSemaphore(value: 0)
        let count = 4 * SQLiteConnectionPool.maximumReaderCount
        let numberOfBegun = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await engine.core.readMany { _ in
                        numberOfBegun.withLock { $0 += 1 }
                        beginning.yield()
                        isOver.wait()
                    }
                }
            }
            var arrivals = begun.makeAsyncIterator()
            for _ in 1..<SQLiteConnectionPool.maximumReaderCount { await arrivals.next() }
            #expect(try await engine.fetch(key: CacheKey("a")) == data)
            #expect(try await engine.fetch(keys: [CacheKey("a")]).map(\.data) == [data])
            #expect(numberOfBegun.withLock { $0 } == SQLiteConnectionPool.maximumReaderCount - 1)
            for _ in 0..<count { isOver.signal() }
            try await group.waitForAll()
        }
        #expect(numberOfBegun.withLock { $0 } == count)
        try await engine.close()
    }
}
