@testable import Bodega
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

/// Operations in progress finish when an engine is closed, and unusual times don't crash it.
@Suite struct SQLiteClosingTests {

    private let folder = TemporaryFolder()

    /// Closes a file on another thread.
    private func close(_ core: SQLiteFile) -> AsyncStream<(any Error)?> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                do {
                    try core.close()
                    continuation.yield(nil)
                } catch {
                    continuation.yield(error)
                }
                continuation.finish()
            }
        }
    }

    @Test("A short read that finds the file locked is repeated before the file is closed")
    func shortRead() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        let (core, table) = (engine.core, engine.table)
        let closing = Locked<AsyncStream<(any Error)?>?>(nil)
        let value = try await core.readOne { db -> Data? in
            let isFirst = closing.withLock { $0 == nil }
            if isFirst {
                closing.withLock { $0 = self.close(core) }
                // Until closing waits for this read only.
                while core.readers.tryEnter() { core.readers.leave() }
                throw DatabaseError(resultCode: .SQLITE_BUSY)
            }
            return try table.value(of: CacheKey("a"), in: db)
        }
        #expect(value == Data("a".utf8))
        let errors = try #require(closing.withLock { $0 })
        for await error in errors { #expect(error == nil) }
        await #expect(throws: StorageError.self) { try await engine.fetch(key: CacheKey("a")) }
    }

    @Test("Writes that wait for the next commit are committed before the file is closed")
    func waitingWrites() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let core = engine.core
        let commits = try core.blockingWritable().commits
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let mayEnd = DispatchSemaphore(value: 0)
        let first = Task {
            try await core.writeUnreported { _ in
                continuation.yield()
                mayEnd.wait()
            }
        }
        for await _ in begun { break }
        let second = Task { try await engine.write(Data("a".utf8), key: CacheKey("a")) }
        while commits.waitingCount == 0 { await Task.yield() }
        let errors = close(core)
        // Until closing waits for the writers only.
        while core.readers.tryEnter() {
            core.readers.leave()
            await Task.yield()
        }
        mayEnd.signal()
        try await first.value
        try await second.value
        for await error in errors { #expect(error == nil) }
        let reopened = try SQLiteStorageEngine(opening: folder.directory)
        #expect(try await reopened.fetch(key: CacheKey("a")) == Data("a".utf8))
    }

    @Test(
        "Times that are NaN, infinite or negative crash no process",
        arguments: [Double.nan, .infinity, -.infinity, -1])
    func oddTimes(seconds: TimeInterval) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: seconds, now: { date })
        let key = CacheKey("a")
        try await engine.write(Data("a".utf8), key: key)
        let dates = StorageDates(createdAt: date, updatedAt: date)
        try await engine.write(items: [StorageItem(key: CacheKey("b"), data: Data(), dates: dates)])
        let stored = try await engine.fetchAllDates().map(\.dates)
        #expect(stored.count == 2 && stored.allSatisfy { $0.createdAt == stored[0].updatedAt })
        if seconds.isNaN { #expect(stored[0].createdAt == Date(timeIntervalSince1970: 0)) }
        try await engine.vacuum()
        try await engine.close()
        let reader = try SQLiteStorageEngine(readingFile: engine.file, lockTimeout: seconds)
        #expect(try await reader.fetch(key: key) == Data("a".utf8))
        let disk = try DiskStorageEngine(opening: folder.directory, now: { date })
        try await disk.write(Data("a".utf8), key: key)
        #expect(try await disk.fetchDates(key: key) != nil)
    }
}
