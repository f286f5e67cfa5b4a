@testable import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct SQLiteMaintenanceTests {

    @Test("Collections of one file share nothing but the file")
    func collections() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        // Names that SQLite itself would confuse, or interpret.
        let names = ["users", "Users", "data", "\"; DROP TABLE data; --", "ünïcödé", "u\u{308}", "\u{FC}"]
        for name in names {
            try await engine.collection(named: name).write(Data(name.utf8), key: CacheKey("key"))
        }
        #expect(try await engine.fetchCount() == 0)
        #expect(try await engine.collectionNames().map { Array($0.utf8) } == names.map { Array($0.utf8) })
        for name in names {
            let collection = try SQLiteStorageEngine(opening: folder.directory, collection: name)
            #expect(try await collection.fetchAllData() == [Data(name.utf8)])
        }
        try await engine.collection(named: "users").removeAllData()
        #expect(try await engine.collection(named: "Users").fetchCount() == 1)
        #expect(throws: StorageError.self) { try engine.collection(named: "") }
    }

    @Test("Vacuuming releases the space of removed items")
    func vacuum() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write((0..<1000).map { (CacheKey("\($0)"), Data(count: 1000)) })
        try await engine.remove(keys: (10..<1000).map { CacheKey("\($0)") })
        func size() throws -> Int { try Data(contentsOf: engine.file).count }
        try await engine.vacuum()
        #expect(try size() < 100_000)
        #expect(try await engine.fetchKeys() == (0..<10).map { CacheKey("\($0)") })
    }

    @Test("Removing all items releases their space, also during reads, unless much else is in the file")
    func removingAll() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        func size() throws -> Int { try Data(contentsOf: engine.file).count }
        let items = (0..<1000).map { (CacheKey("\($0)"), Data(count: 10_000)) }
        let other = try engine.collection(named: "other")
        try await other.write(Data("other".utf8), key: CacheKey("other"))
        let cursor = try await other.fetchCursor()
        try await engine.write(items)
        try await engine.removeAllData()
        #expect(try size() < 100_000)
        #expect(try await other.fetchAllData() == [Data("other".utf8)])
        #expect(try await other.fetchChanges(since: cursor, excluding: nil)?.changes.isEmpty == true)

        // A reader in the middle of a transaction sees its snapshot, and doesn't block the others.
        try await engine.write(items)
        let reader = try DatabaseQueue(path: engine.file.path)
        try await reader.read { db in
            let before = try Int.fetchOne(db, sql: "SELECT count(*) FROM data")
            let writer = try engine.core.blockingWritable().writer
            try writer.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM data") }
            try engine.core.vacuum(waitingForWriters: false)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM data") == before)
        }
        try await engine.removeAllData()
        #expect(try size() < 100_000)

        try await other.write((0..<2000).map { (CacheKey("\($0)"), Data(count: 10_000)) })
        try await engine.write(items)
        try await engine.removeAllData()
        #expect(try size() > 25_000_000)
        #expect(try await engine.integrityCheck() == [])
    }

    @Test("A removal does not wait to release its space while another writer holds the lock")
    func removingAllBesideWriter() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: 1_000)
        try await engine.write((0..<500).map { (CacheKey("\($0)"), Data(count: 10_000)) })
        let database = try engine.core.blockingWritable().writer
        try await database.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM data") }
        let writer = try DatabaseQueue(path: engine.file.path)
        try await writer.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                #expect(throws: DatabaseError.self) { try engine.core.vacuum(waitingForWriters: false) }
                return .commit
            }
        }
        await engine.core.vacuumIfQuick()
        #expect(try Data(contentsOf: engine.file).count < 100_000)
    }

    @Test("An integrity check finds an index that contradicts its table, and damaged pages")
    func integrityCheck() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write([(CacheKey("aaaa"), Data()), (CacheKey("bbbb"), Data())])
        #expect(try await engine.integrityCheck() == [])
        let copy = folder.file("copy.sqlite3")
        try await engine.backup(to: copy)
        let page = try await DatabaseQueue(path: copy.path).read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_data_1'")
        }
        var bytes = try Data(contentsOf: copy)
        let index = (try #require(page) - 1) * 4096..<(try #require(page)) * 4096
        let key = try #require(bytes.range(of: Data("aaaa".utf8), in: index))
        bytes.replaceSubrange(key, with: Data("aaab".utf8))
        try bytes.write(to: folder.file("wrong.sqlite3"))
        bytes.replaceSubrange(index, with: Data(repeating: 0xAA, count: 4096))
        try bytes.write(to: folder.file("nonsense.sqlite3"))
        for name in ["wrong", "nonsense"] {
            let damaged = try SQLiteStorageEngine(openingFile: folder.file("\(name).sqlite3"))
            #expect(try await !damaged.integrityCheck().isEmpty)
        }
    }

    @Test("A backup during writes is a snapshot of the store, with all collections")
    func backup() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        try await engine.collection(named: "other").write(Data("o".utf8), key: CacheKey("o"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<500 {
                    let data = Data("\(number)".utf8)
                    try await engine.write([(CacheKey("left"), data), (CacheKey("right"), data)])
                }
            }
            for number in 0..<5 {
                group.addTask {
                    let copy = folder.file("backups/\(number).sqlite3")
                    try await engine.backup(to: copy)
                    let restored = try SQLiteStorageEngine(openingFile: copy)
                    #expect(try await restored.fetch(key: CacheKey("left")) == restored.fetch(key: CacheKey("right")))
                    #expect(try await restored.collection(named: "other").fetchCount() == 1)
                    #expect(try await restored.integrityCheck() == [])
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/backups").filter { $0.hasPrefix(".") }
                == [])
    }

    @Test("A closed engine leaves one file that can be moved, and throws that it is closed")
    func close() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        _ = try await engine.fetchAll()
        try await engine.close()
        #expect(try folder.names() == ["data.sqlite3"])
        await #expect { try await engine.fetchAll() } throws: { ($0 as? StorageError)?.code == .closed }
        await #expect { try await engine.write(Data(), key: CacheKey("b")) } throws: {
            ($0 as? StorageError)?.code == .closed
        }
        try FileManager.default.moveItem(at: engine.file, to: folder.file("moved.sqlite3"))
        let moved = try SQLiteStorageEngine(openingFile: folder.file("moved.sqlite3"))
        #expect(try await moved.fetch(key: CacheKey("a")) == Data("a".utf8))
    }

    @Test("Reads during closing throw that the engine is closed")
    func closingBesideReaders() async throws {
        let folder = TemporaryFolder()
        for round in 0..<200 {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            try await engine.write(Data("a".utf8), key: CacheKey("a"))
            // New in this round, because an engine looks for a collection elsewhere after it has created one.
            let name = "\(round)"
            let reads: [@Sendable () async throws -> Int] = [
                { try await engine.fetchAll().count }, { try await engine.fetch(key: CacheKey("a")) == nil ? 0 : 1 },
                { try await engine.collection(named: name).fetchCount() + 1 },
            ]
            await withTaskGroup(of: StorageError.Code?.self) { group in
                for read in reads + reads {
                    group.addTask {
                        do {
                            while try await read() == 1 { await Task.yield() }
                            return nil
                        } catch {
                            return (error as? StorageError)?.code
                        }
                    }
                }
                group.addTask {
                    do {
                        try await engine.close()
                        return .closed
                    } catch {
                        return (error as? StorageError)?.code
                    }
                }
                for await code in group { #expect(code == .closed) }
            }
        }
    }

    @Test("A backup does not replace an existing file")
    func backupDoesNotReplace() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let copy = folder.file("copy")
        try Data("precious".utf8).write(to: copy)
        await #expect { try await engine.backup(to: copy) } throws: { ($0 as? StorageError)?.code == .invalidArgument }
        #expect(try Data(contentsOf: copy) == Data("precious".utf8))
    }

    @Test(
        "Dates are written as Bodega 2 writes them and are read to the millisecond",
        arguments: [
            (0, "1970-01-01T00:00:00.000"),
            (951_782_399.999, "2000-02-28T23:59:59.999"),
            (951_782_400, "2000-02-29T00:00:00.000"),
            (-0.001, "1969-12-31T23:59:59.999"),
            (4_107_542_400, "2100-03-01T00:00:00.000"),
            (-62_135_596_800, "0001-01-01T00:00:00.000"),
            (253_402_300_799.999, "9999-12-31T23:59:59.999"),
        ]
    )
    func dates(seconds: Double, text: String) async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, now: { Date(timeIntervalSince1970: seconds) })
        try await engine.write(Data(), key: CacheKey("a"))
        let written = try await DatabaseQueue(path: engine.file.path).read { db in
            try String.fetchOne(db, sql: "SELECT createdAt FROM data")
        }
        #expect(written == text)
        let date = try #require(try await engine.fetchDates(key: CacheKey("a"))?.createdAt)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_5)
    }

    @Test("An invalid date is reported")
    func noDate() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data(), key: CacheKey("a"))
        try await DatabaseQueue(path: engine.file.path).write { db in
            try db.execute(sql: "UPDATE data SET createdAt = 'yesterday'")
        }
        await #expect { try await engine.fetchDates(key: CacheKey("a")) } throws: {
            ($0 as? StorageError)?.code == .damaged
        }
        #expect(await engine.createdAt(key: CacheKey("a")) == nil)
    }
}
