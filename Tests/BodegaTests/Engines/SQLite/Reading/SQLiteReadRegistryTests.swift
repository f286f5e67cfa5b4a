import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// A file that readers of this process use while a writer in it waits.
@Suite struct SQLiteReadRegistryTests {

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("data.sqlite3") }

    /// Creates a file with one item, and closes it.
    private func makeFile() async throws {
        let engine = try SQLiteStorageEngine(openingFile: file)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        try await engine.close()
    }

    private func count(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT count(*) FROM data") }

    /// A read that is blocked halfway.
    private struct SlowRead: Sendable {
        let goOn = DispatchSemaphore(value: 0)
        let runs = Locked(0)
        let end: Task<Int?, any Error>

        init(_ reader: SQLiteReader, _ count: @escaping @Sendable (Database) throws -> Int?) async {
            let (started, start) = AsyncStream<Void>.makeStream()
            end = Task { [goOn, runs] in
                try await onThread {
                    try reader.read(isTransaction: true) { db in
                        let isFirst = runs.withLock { runs in
                            runs += 1
                            return runs == 1
                        }
                        if isFirst {
                            start.yield()
                            goOn.wait()
                        }
                        return try count(db)
                    }
                }
            }
            _ = await started.first { _ in true }
        }
    }

    /// Opens the file for writing, on another thread.
    private func writing() -> Task<Void, any Error> {
        Task { [file] in
            let engine = try await onThread { try SQLiteStorageEngine(openingFile: file) }
            try await engine.write(Data("b".utf8), key: CacheKey("b"))
            try await engine.close()
        }
    }

    /// Lets a reader open the file repeatedly, until it may not because a writer waits.
    private func expectRefusal(of reader: SQLiteReader) async throws {
        let isRefused = try await onThread { [count] in
            let deadline = DispatchTime.now() + 60
            while DispatchTime.now() < deadline {
                do {
                    _ = try reader.read(isTransaction: true, count)
                    try reader.release()
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    return true
                }
            }
            return false
        }
        #expect(isRefused)
    }

    @Test("While a writer waits, no other reader opens the file, so that the wait ends")
    func others() async throws {
        try await makeFile()
        let slow = await SlowRead(SQLiteReader(path: file.path, lockTimeout: 60), count)
        let other = SQLiteReader(path: file.path, lockTimeout: 0)
        let writing = writing()
        try await expectRefusal(of: other)
        slow.goOn.signal()
        #expect(try await slow.end.value == 1)
        try await writing.value
        #expect(try other.read(isTransaction: true, count) == 2)
        try other.close()
    }

    @Test("A reader that a writer waits for may open the file again to finish its read")
    func awaited() async throws {
        try await makeFile()
        let slow = await SlowRead(SQLiteReader(path: file.path, lockTimeout: 20), count)
        let other = SQLiteReader(path: file.path, lockTimeout: 0)
        let writing = writing()
        try await expectRefusal(of: other)
        // With a WAL, the file must be read in another way.
        try Data().write(to: folder.file("data.sqlite3-wal"))
        slow.goOn.signal()
        #expect(try await slow.end.value == 1)
        #expect(slow.runs.withLock { $0 } == 2)
        try await writing.value
        #expect(try other.read(isTransaction: true, count) == 2)
        try other.close()
    }

    @Test("Many permanent readers don't prevent a write")
    func busy() async throws {
        try await makeFile()
        let isOver = Locked(false)
        let readers = (0..<2).map { _ in
            Task { [file, count] in
                try await onThread {
                    let reader = SQLiteReader(path: file.path, lockTimeout: 60)
                    while !isOver.withLock({ $0 }) { _ = try reader.read(isTransaction: true, count) }
                    try reader.close()
                }
            }
        }
        try await withTaskCancellationHandler {
            for _ in 0..<3 { try await writing().value }
        } onCancel: {
            // The test has taken too long, so the waiting writer continues.
            isOver.withLock { $0 = true }
        }
        isOver.withLock { $0 = true }
        for reader in readers { try await reader.value }
    }
}

/// Runs a blocking closure.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
