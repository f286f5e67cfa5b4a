@testable import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// The connections to a file are opened when they are needed.
@Suite struct SQLiteConnectionPoolTests {

    private let folder = TemporaryFolder()

    /// Creates a file with an item, and closes it.
    private func createFile() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        try await engine.close()
    }

    private var log: URL { folder.file("data.sqlite3-wal") }

    private func pool(of engine: SQLiteStorageEngine) throws -> SQLiteConnectionPool {
        guard case .pool(let pool, _) = try engine.core.connections else { throw StorageError(.readOnly, "No pool") }
        return pool
    }

    @Test("Opening and reading an existing file writes nothing")
    func openingWritesNothing() async throws {
        try await createFile()
        let before = try Data(contentsOf: folder.file("data.sqlite3"))
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        #expect(try await engine.fetch(key: CacheKey("a")) == Data("a".utf8))
        #expect(try await engine.fetchCount() == 1)
        #expect(try Data(contentsOf: log).isEmpty)
        #expect(try pool(of: engine).openedWriter == nil)
        try await engine.close()
        #expect(try Data(contentsOf: folder.file("data.sqlite3")) == before)
        #expect(!FileManager.default.fileExists(atPath: log.path))
    }

    @Test("The first write takes over the first connection, and then reads use another one")
    func firstWrite() async throws {
        try await createFile()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let connection = try engine.core.blockingReadMany { $0.sqliteConnection }
        try await engine.write(Data("b".utf8), key: CacheKey("b"))
        let writer = try engine.core.blockingWritable().writer
        #expect(writer.unsafeRead { $0.sqliteConnection } == connection)
        #expect(try engine.core.blockingReadMany { $0.sqliteConnection } != connection)
        #expect(try await engine.fetch(key: CacheKey("b")) == Data("b".utf8))
    }

    @Test("A write during the first read doesn't wait for it", arguments: [false, true])
    func writeDuringRead(isSynchronous: Bool) async throws {
        try await createFile()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await whileReading(engine) {
            if isSynchronous {
                try engine.core.blockingWriteUnreported { try $0.execute(sql: "CREATE TABLE other (number INTEGER)") }
            } else {
                try await engine.write(Data("b".utf8), key: CacheKey("b"))
            }
        }
        #expect(try pool(of: engine).openedWriter != nil)
        #expect(try await engine.fetchCount() == (isSynchronous ? 1 : 2))
        try await engine.close()
        #expect(!FileManager.default.fileExists(atPath: log.path))
    }

    @Test("A write during the first read of a removed or replaced file creates none", arguments: [false, true])
    func writeAfterRemoval(isReplaced: Bool) async throws {
        try await createFile()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let file = engine.file
        try await whileReading(engine) {
            try FileManager.default.moveItem(at: file, to: folder.file("moved"))
            if isReplaced { try Data().write(to: file) }
            await #expect {
                try await engine.write(Data("b".utf8), key: CacheKey("b"))
            } throws: {
                ($0 as? StorageError)?.code == .placeRemoved
            }
        }
        #expect(FileManager.default.fileExists(atPath: file.path) == isReplaced)
        if isReplaced { #expect(try Data(contentsOf: file).isEmpty) }
    }

    @Test("The first read after a write doesn't open a file that has replaced the engine's")
    func readAfterReplacement() async throws {
        let other = TemporaryFolder()
        let replacement = try SQLiteStorageEngine(opening: other.directory)
        try await replacement.write(Data("z".utf8), key: CacheKey("z"))
        try await replacement.close()
        try await createFile()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("b".utf8), key: CacheKey("b"))
        for name in ["data.sqlite3", "data.sqlite3-wal", "data.sqlite3-shm"] {
            try FileManager.default.moveItem(at: folder.file(name), to: folder.file("moved-\(name)"))
        }
        try FileManager.default.copyItem(at: replacement.file, to: engine.file)
        await #expect {
            try await engine.fetchAll()
        } throws: {
            ($0 as? StorageError)?.code == .placeRemoved
        }
        #expect(!FileManager.default.fileExists(atPath: log.path))
    }

    @Test("A follower that reads after the file was closed gets a storage error")
    func readUpdateAfterClosing() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let collection = SQLiteCollection(of: engine)
        try collection.readUpdate(since: { .nowhere }, { _ in })
        try await engine.close()
        #expect {
            try collection.readUpdate(since: { .nowhere }, { _ in })
        } throws: {
            ($0 as? StorageError)?.code == .closed
        }
    }

    @Test("Concurrent first writes are all committed", arguments: [1, 64])
    func concurrentFirstWrites(readers: Int) async throws {
        try await createFile()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                if number < readers { group.addTask { _ = try await engine.fetchAll() } }
                group.addTask { try await engine.write(Data(), key: CacheKey("\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(try await engine.fetchCount() == 65)
        #expect(try await engine.fetchAll().count == 65)
    }

    /// Runs a closure while a read uses the first connection.
    private func whileReading(_ engine: SQLiteStorageEngine, _ body: () async throws -> Void) async throws {
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let mayEnd = DispatchSemaphore(value: 0)
        let reading = Task {
            try await engine.core.readLoosely { db in
                _ = try String.fetchOne(db, sql: "SELECT key FROM data")
                continuation.yield()
                mayEnd.wait()
            }
        }
        for await _ in begun { break }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        mayEnd.signal()
        try await reading.value
        try result.get()
    }
}
