import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Files that are damaged, locked or not databases.
@Suite struct SQLiteFaultTests {

    private func code(of error: any Error) -> StorageError.Code? { (error as? StorageError)?.code }

    @Test("A file that is not a database is reported and stays unchanged")
    func noDatabase() throws {
        let folder = TemporaryFolder()
        let bytes = Data("These are not the bytes you are looking for. ".utf8 + Array(repeating: 7, count: 5000))
        try bytes.write(to: folder.file("data.sqlite3"))
        #expect { try SQLiteStorageEngine(opening: folder.directory) } throws: { code(of: $0) == .damaged }
        #expect(SQLiteStorageEngine(directory: folder.directory) == nil)
        #expect(try Data(contentsOf: folder.file("data.sqlite3")) == bytes)
    }

    @Test("A folder at the file's path is reported")
    func folderInPlace() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("data.sqlite3"), withIntermediateDirectories: false)
        #expect { try SQLiteStorageEngine(opening: folder.directory) } throws: { code(of: $0) == .cannotOpen }
    }

    @Test("A file that is gone when another connection is needed is reported as removed")
    func gone() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        try FileManager.default.removeItem(at: engine.file)
        await #expect { try await engine.fetchAll() } throws: { code(of: $0) == .placeRemoved }
        await #expect { try await engine.fetch(key: CacheKey("a")) } throws: { code(of: $0) == .placeRemoved }
    }

    @Test("A file at the folder's path is reported")
    func fileInPlaceOfFolder() throws {
        let folder = TemporaryFolder()
        try Data().write(to: folder.file("a"))
        let directory = FileManager.Directory(url: folder.file("a"))
        #expect { try SQLiteStorageEngine(opening: directory) } throws: { code(of: $0) == .cannotOpen }
        #expect { try DiskStorageEngine(opening: directory) } throws: { code(of: $0) == .cannotOpen }
    }

    @Test(
        "A truncated file is reported, by opening or by reading, and opening does not shorten it",
        arguments: [1, 2, 5, 9])
    func truncated(pages: Int) async throws {
        let folder = TemporaryFolder()
        let file = try await filledFile(in: folder)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(pages * 4096 - 100))
        try handle.close()
        let size = try Data(contentsOf: file).count
        do {
            let engine = try SQLiteStorageEngine(openingFile: file)
            let items = try await engine.fetchAll()
            Issue.record("\(items.count) items were read from a truncated file")
        } catch {
            #expect(code(of: error) == .damaged)
        }
        #expect(try Data(contentsOf: file).count == size)
    }

    @Test("Flipped bytes are reported or leave every other item readable; they never make a store look empty")
    func flippedBytes() async throws {
        let seed = Seed.current
        print("flipped bytes: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let folder = TemporaryFolder()
        let original = try Data(contentsOf: try await filledFile(in: folder))
        var reported = 0
        for round in 0..<150 {
            var bytes = original
            let page = Int.random(in: 0..<bytes.count / 4096, using: &random)
            // The header of a page describes the rest of it, so that damage there has the most effect.
            let end = round.isMultiple(of: 2) ? 16 : 4096
            for _ in 0..<8 {
                bytes[page * 4096 + Int.random(in: 0..<end, using: &random)] = .random(in: 0...255, using: &random)
            }
            let file = folder.file("damaged-\(round).sqlite3")
            try bytes.write(to: file)
            do {
                let engine = try SQLiteStorageEngine(openingFile: file, lockTimeout: 0)
                let items = try await engine.fetchAll()
                #expect(!items.isEmpty, "seed \(seed), round \(round): looks empty")
                _ = try await engine.fetchKeys()
                _ = try await engine.fetchDates(key: CacheKey("5"))
                _ = try await engine.integrityCheck()
            } catch let error as StorageError {
                reported += 1
                #expect([.damaged, .cannotOpen, .inputOutput].contains(error.code), "round \(round): \(error)")
            }
        }
        #expect(reported > 0)
    }

    @Test("A bit that is flipped anywhere in the names of collections never makes one look empty")
    func flippedNames() async throws {
        let folder = TemporaryFolder()
        let names = ["users", "drafts", "settings of the app", "übersicht"]
        let file = folder.file("copy.sqlite3")
        do {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            for name in names { try await engine.collection(named: name).write(Data("a".utf8), key: CacheKey("a")) }
            try await engine.backup(to: file)
        }
        let original = try Data(contentsOf: file)
        var damaged = 0
        for name in names {
            var places: [Int] = []
            var rest = original.startIndex..<original.endIndex
            while let found = original.range(of: Data(name.utf8), in: rest) {
                places += found
                rest = found.upperBound..<original.endIndex
            }
            // The name is in the register and in its index.
            #expect(places.count == 2 * name.utf8.count)
            for place in places {
                var bytes = original
                bytes[place] ^= 1
                try bytes.write(to: file)
                for isReading in [true, false] {
                    do {
                        let engine =
                            try isReading
                            ? SQLiteStorageEngine(readingFile: file) : SQLiteStorageEngine(openingFile: file)
                        let items = try await engine.collection(named: name).fetchAll()
                        #expect(items.count == 1, "\(name), byte \(place)")
                    } catch {
                        damaged += 1
                        #expect(code(of: error) == .damaged)
                    }
                }
            }
        }
        #expect(damaged > 0)
    }

    @Test("A value of errno from an earlier call does not explain why a database can't be opened")
    func staleReason() {
        let cause = DatabaseError(resultCode: .SQLITE_CANTOPEN)
        errno = EMFILE
        let error = StorageError.sqlite(cause, file: URL(fileURLWithPath: "/absent/a.sqlite3"))
        #expect(error.code == .cannotOpen)
    }

    @Test("A database that another program keeps locked can be read, and writing throws that it is locked")
    func locked() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: 0.05)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: engine.file.path, configuration: configuration)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
        }
        #expect(try await engine.fetch(key: CacheKey("a")) == Data("a".utf8))
        await #expect { try await engine.write(Data(), key: CacheKey("b")) } throws: { code(of: $0) == .locked }
        // Opening needs no lock either, once the table exists.
        #expect(try await SQLiteStorageEngine(opening: folder.directory, lockTimeout: 0.05).fetchCount() == 1)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try await engine.write(Data(), key: CacheKey("b"))
        #expect(try await engine.fetchCount() == 2)
    }

    @Test("A batch with a value that is too large changes nothing, and doesn't affect writes that share its commit")
    func failingWriteInGroup() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        try await DatabaseQueue(path: engine.file.path).write { db in
            try db.execute(
                sql:
                    """
                    CREATE TRIGGER refuse BEFORE INSERT ON data WHEN new.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); \
                    END
                    """
            )
        }
        let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
            for number in 0..<200 {
                group.addTask {
                    let last = CacheKey(number.isMultiple(of: 10) ? "bad" : "good \(number)")
                    do {
                        try await engine.apply([
                            .write(key: CacheKey("\(number)"), data: Data()), .write(key: last, data: Data()),
                        ])
                        return (number, true)
                    } catch {
                        return (number, false)
                    }
                }
            }
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        for number in 0..<200 {
            #expect(outcomes[number] == !number.isMultiple(of: 10))
        }
        #expect(try await engine.fetchCount() == 360)
        #expect(await engine.keyExists(CacheKey("0")) == false)
    }

    /// A closed file of about 50 pages.
    private func filledFile(in folder: TemporaryFolder) async throws -> URL {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write((0..<400).map { (CacheKey("\($0)"), Data(repeating: UInt8($0 % 256), count: 400)) })
        let copy = folder.file("copy.sqlite3")
        try await engine.backup(to: copy)
        return copy
    }
}
