@testable import Bodega
import BodegaTesting
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The size of the write-ahead log.
@Suite struct SQLiteLogSizeTests {

    private let folder = TemporaryFolder()
    private let limit = 16 << 20

    /// The size of the log's file in bytes, as the file system reports it.
    private var logSize: Int {
        var status = stat()
        return stat(folder.file("data.sqlite3-wal").path, &status) == 0 ? Int(status.st_size) : 0
    }

    private func open() async throws -> SQLiteStorageEngine {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        try await engine.write((0..<2_000).map { (CacheKey("item \($0)"), Data(count: 500)) })
        return engine
    }

    /// Overwrites items of a megabyte.
    private func write(_ megabytes: Int, to engine: SQLiteStorageEngine) async throws {
        for number in 0..<megabytes {
            try await engine.write(Data(repeating: UInt8(number % 256), count: 1 << 20), key: CacheKey("\(number % 4)"))
        }
    }

    @Test("A log that grew during a read shrinks when the read is over, without another write")
    func shrinksAfterRead() async throws {
        let engine = try await open()
        let (began, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let core = engine.core
        let read = Task.detached {
            try await core.readMany { db -> Int in
                let count = try SQLiteTable.standard.count(in: db)
                began.signal()
                ends.wait()
                return count
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                began.wait()
                continuation.resume()
            }
        }
        try await write(40, to: engine)
        #expect(logSize > 2 * limit)
        ends.signal()
        #expect(try await read.value == 2_000)
        try await waitUntil("the log is small") { logSize <= limit }
        #expect(try await engine.fetchCount() == 2_004)
        #expect(try await engine.integrityCheck() == [])
    }

    @Test("A log that a reader of another program has made large is small again after later reads, too")
    func foreignReader() async throws {
        let engine = try await open()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let foreign = try DatabaseQueue(path: folder.file("data.sqlite3").path, configuration: configuration)
        try await foreign.unsafeRead { db in
            try db.execute(sql: "BEGIN; SELECT count(*) FROM data")
        }
        try await write(80, to: engine)
        #expect(logSize > 4 * limit)
        try await foreign.unsafeRead { try $0.execute(sql: "COMMIT") }
        // SQLite starts the log over, and cuts it to the limit.
        try await write(30, to: engine)
        try await waitUntil("the log is small") { logSize <= limit }
        let ends = DispatchSemaphore(value: 0)
        let core = engine.core
        let read = Task.detached {
            try await core.readMany { db in
                _ = try SQLiteTable.standard.count(in: db)
                ends.wait()
            }
        }
        try await waitUntil("a write was kept in the log") {
            try await write(10, to: engine)
            return logSize > 3 * limit
        }
        ends.signal()
        try await read.value
        try await waitUntil("the log is small") { logSize <= limit }
    }

    @Test("A log stays bounded while reads overlap, so that there is nearly always one, and writers continue")
    func overlappingReads() async throws {
        let engine = try await open()
        let core = engine.core
        // How many read now, how many have read, and how many of these found another one.
        let (readers, isOver) = (Locked((now: 0, all: 0, overlapping: 0)), Locked(false))
        // Each reader keeps the state before a write until that has returned, so that there is always one.
        let (writes, written) = (Locked(0), DispatchSemaphore(value: 0))
        let reads = (0..<4).map { _ in
            Task.detached {
                while !isOver.withLock({ $0 }) {
                    try await core.readMany { db in
                        let keys = try SQLiteTable.standard.allKeys(in: db)
                        #expect(keys.count >= 2_000)
                        let seen = writes.withLock { $0 }
                        readers.withLock { $0 = ($0.now + 1, $0.all + 1, $0.overlapping + ($0.now > 0 ? 1 : 0)) }
                        while writes.withLock({ $0 == seen }), !isOver.withLock({ $0 }) { written.wait() }
                        readers.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        try await waitUntil("readers overlap") { readers.withLock { $0.overlapping > 0 } }
        var largest = 0
        for _ in 0..<80 {
            let begun = readers.withLock { $0.all }
            try await write(4, to: engine)
            writes.withLock { $0 += 1 }
            for _ in reads { written.signal() }
            largest = max(largest, logSize)
            try await waitUntil("others read") { readers.withLock { $0.all > begun } }
        }
        isOver.withLock { $0 = true }
        for _ in reads { written.signal() }
        for read in reads { try await read.value }
        let (_, all, overlapping) = readers.withLock { $0 }
        #expect(overlapping > all / 2)
        // 320 MiB were written. An attempt to cut the log begins at the limit, and after one that failed again at twice
        // the limit.
        #expect(largest <= 4 * limit, "\(largest >> 20) MiB")
        try await waitUntil("the log is small") { logSize <= limit }
    }

    @Test("A log that one large batch has filled shrinks")
    func largeBatch() async throws {
        let engine = try await open()
        try await engine.write((0..<30).map { (CacheKey("\($0)"), Data(count: 1 << 20)) })
        try await waitUntil("the log is small") { logSize <= limit }
        #expect(try await engine.fetchCount() == 2_030)
    }

    @Test("A gate that readers leave too late runs nothing, and lets new readers in again")
    func impatientGate() {
        let gate = ReaderGate(count: 3)
        #expect(gate.tryEnter())
        #expect(gate.tryWhileEmpty(within: .milliseconds(1)) { Issue.record("A reader is inside.") } == nil)
        #expect(gate.tryEnter() && gate.tryEnter() && !gate.tryEnter())
        for _ in 0..<3 { gate.leave() }
        #expect(gate.tryWhileEmpty(within: .seconds(10)) { gate.tryEnter() } == false)
        #expect(gate.tryWhileEmpty(within: .seconds(10)) { gate.tryWhileEmpty(within: .seconds(10)) {} == nil } == true)
        #expect(gate.tryEnter())
    }
}
