import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// Engines that only read a file, while others write to it or after they were stopped during a write.
@Suite struct SQLiteReadingBesideWritersTests {

    /// A process that writes on request.
    private struct Writer {
        private let input = Pipe.separate()
        private let child: Child

        init(at folder: TemporaryFolder) async throws {
            child = try Child(["hold", "sqlite", folder.path], input: input)
            #expect(await child.nextLine() == "opened")
        }

        func write(_ key: String) async throws {
            try input.fileHandleForWriting.write(contentsOf: Data((key + "\n").utf8))
            #expect(await child.nextLine() == "written")
        }

        /// Lets the process close the file.
        func end() async throws {
            try input.fileHandleForWriting.close()
            _ = await child.lines()
        }

        func kill() async {
            child.kill()
            _ = await child.lines()
        }
    }

    private func keys(_ names: String...) -> [CacheKey] { names.map(CacheKey.init(verbatim:)) }

    @Test("Changes of another process are visible immediately, and reading changes nothing")
    func live() async throws {
        let folder = TemporaryFolder()
        let writer = try await Writer(at: folder)
        try await writer.write("a")
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await engine.fetchKeys() == keys("a"))
        #expect(try Listing(of: folder.url) == before)
        try await writer.write("b")
        #expect(try await engine.fetchKeys() == keys("a", "b"))
        try await writer.end()
        #expect(try await engine.fetchKeys() == keys("a", "b"))
        try await engine.close()
    }

    @Test("A process can begin to write to a file that is read, and its changes are read, also after it has exited")
    func writerComes() async throws {
        let folder = TemporaryFolder()
        let first = try await Writer(at: folder)
        try await first.write("a")
        try await first.end()
        #expect(try folder.names() == ["data.sqlite3"])
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await engine.fetchKeys() == keys("a"))
        for name in ["b", "c"] {
            let next = try await Writer(at: folder)
            #expect(try await engine.fetchCount() >= 1)
            try await next.write(name)
            #expect(try await engine.fetchKeys().last == CacheKey(verbatim: name))
            try await next.end()
            #expect(try await engine.fetchKeys().last == CacheKey(verbatim: name))
        }
        try await engine.close()
        // The next writer removes the WAL that the writers had to leave.
        let last = try await Writer(at: folder)
        try await last.write("d")
        try await last.end()
        #expect(try folder.names() == ["data.sqlite3"])
        #expect(
            try await SQLiteStorageEngine(readingFile: folder.file("data.sqlite3")).fetchKeys()
                == keys("a", "b", "c", "d"))
    }

    @Test("A file of Bodega 2 remains readable while another process migrates it")
    func takenOver() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(at: Fixtures.file("bodega-2.sqlite3"), to: folder.file("data.sqlite3"))
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await engine.fetchCount() == 3)
        let writer = try await Writer(at: folder)
        #expect(try await engine.fetchCount() == 3)
        try await writer.write("a")
        #expect(try await engine.fetchKeys().last == CacheKey(verbatim: "a"))
        try await writer.end()
        #expect(try await engine.fetchKeys().last == CacheKey(verbatim: "a"))
    }

    /// The files that a killed process leaves.
    enum Remains: CaseIterable {
        case all, withoutIndex, emptyIndex
    }

    @Test("The WAL of a killed process is read and stays unchanged", arguments: Remains.allCases)
    func killed(remains: Remains) async throws {
        let folder = TemporaryFolder()
        let writer = try await Writer(at: folder)
        for name in ["a", "b", "c"] { try await writer.write(name) }
        await writer.kill()
        let index = folder.file("data.sqlite3-shm")
        switch remains {
        case .all: break
        case .withoutIndex: try FileManager.default.removeItem(at: index)
        case .emptyIndex: try Data().write(to: index)
        }
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await engine.fetchKeys() == keys("a", "b", "c"))
        #expect(try await engine.integrityCheck() == [])
        #expect(try Listing(of: folder.url) == before)
        let next = try await Writer(at: folder)
        try await next.write("d")
        #expect(try await engine.fetchKeys() == keys("a", "b", "c", "d"))
        try await engine.close()
        try await next.end()
        #expect(try folder.names() == ["data.sqlite3"])
    }

    @Test("An empty or invalid WAL stays unchanged", arguments: [0, 1, 32, 5000])
    func emptyLog(size: Int) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1.sqlite3"), to: folder.file("data.sqlite3"))
        try Data(repeating: 0xAA, count: size).write(to: folder.file("data.sqlite3-wal"))
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await engine.fetchCount() == 5)
        try await engine.close()
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("Each read sees whole batches while another process writes as fast as it can", arguments: [true, false])
    func batches(isOpenedEachTime: Bool) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let child = try Child("write", "sqlite", folder.path, "relaxed", "r", "100000")
        _ = await child.nextLine()
        let reader = try SQLiteStorageEngine(readingFile: file)
        var counts: [Int] = []
        for _ in 0..<60 {
            let engine = isOpenedEachTime ? try SQLiteStorageEngine(readingFile: file) : reader
            try await checkBatches(in: engine)
            counts.append(try await engine.fetchCount())
        }
        child.kill()
        _ = await child.lines()
        #expect(counts == counts.sorted())
        try await checkBatches(in: reader)
    }

    @Test("Each read sees whole batches while processes start, write and exit")
    func comingAndGoing() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try await SQLiteStorageEngine(openingFile: file).close()
        for round in 0..<10 {
            let child = try Child("write", "sqlite", folder.path, "relaxed", "r\(round)", "3")
            async let lines = child.lines()
            for _ in 0..<20 { try await checkBatches(in: SQLiteStorageEngine(readingFile: file)) }
            #expect(await lines.last == "done")
            let engine = try SQLiteStorageEngine(readingFile: file)
            #expect(try await engine.fetchKeys(among: [CacheKey("r\(round)-0-2")]).count == 1)
        }
    }

    private func checkBatches(in engine: SQLiteStorageEngine) async throws {
        var batches: [Substring: Int] = [:]
        for (key, data) in try await engine.fetchAll() {
            #expect(data == Data(String(repeating: key.rawValue + ";", count: 40).utf8), "torn: \(key)")
            guard let range = key.rawValue.range(of: "-batch-") else { continue }
            batches[key.rawValue[..<range.lowerBound], default: 0] += 1
        }
        #expect(batches.allSatisfy { $0.value == 5 }, "half a batch: \(batches)")
    }
}

extension SQLiteReadingBesideWritersTests {

    @Test("A file whose index a stopped process has written in part is locked until the process goes on")
    func tornIndex() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data("1".utf8), key: CacheKey(verbatim: "1"))
        let reader = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"), lockTimeout: 1)
        #expect(try await reader.fetchCount() == 1)
        let input = Pipe.separate()
        let child = try Child(["tear-wal-index", folder.path, "a", "b"], input: input)
        #expect(await child.nextLine() == "torn")

        // SQLite itself waits for ten seconds in each.
        func isLocked(_ body: @Sendable () async throws -> Void) async throws -> Bool {
            do {
                try await body()
                return false
            } catch let error as StorageError where error.code == .locked {
                return true
            }
        }
        async let one = isLocked { _ = try await engine.fetch(key: CacheKey(verbatim: "1")) }
        async let all = isLocked { _ = try await reader.fetchAll() }
        async let written = isLocked { try await engine.write(Data("2".utf8), key: CacheKey(verbatim: "2")) }
        #expect(try await [one, all, written] == [true, true, true])

        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        #expect(await child.nextLine() == "whole")
        #expect(try await engine.fetchKeys() == keys("1", "a"))
        #expect(try await reader.fetchKeys() == keys("1", "a"))
        try await engine.write(Data("2".utf8), key: CacheKey(verbatim: "2"))
        #expect(try await reader.fetchKeys() == keys("1", "a", "2"))
        try input.fileHandleForWriting.close()
        _ = await child.lines()
        try await reader.close()
        try await engine.close()
        #expect(try folder.names() == ["data.sqlite3"])
    }

    @Test("Changes that Bodega 2 writes with a journal are visible")
    func journal() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file("bodega-2.sqlite3"), to: file)
        let engine = try SQLiteStorageEngine(readingFile: file)
        #expect(try await engine.fetchCount() == 3)
        let reference = try DatabaseQueue(path: file.path)
        for number in 1...3 {
            try await reference.write { db in
                try db.execute(
                    sql: "INSERT INTO data VALUES (?, x'01', '2022-06-22', '2022-06-22')", arguments: ["\(number)"])
            }
            #expect(try await engine.fetchCount() == 3 + number)
        }
    }

    @Test(
        "A file whose journal has an unfinished write can be read after opening it for writing rolls that back"
    )
    func hotJournal() async throws {
        let folder = TemporaryFolder()
        let source = folder.file("source.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file("bodega-2.sqlite3"), to: source)
        let remains = folder.file("remains")
        try FileManager.default.createDirectory(at: remains, withIntermediateDirectories: false)
        let file = remains.appendingPathComponent("data.sqlite3")
        // The cache is tiny, so pages are written to the file before the transaction ends.
        let reference = try DatabaseQueue(path: source.path)
        try await reference.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 1")
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE data SET value = zeroblob(100000)")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: source.path + suffix, toPath: file.path + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        let before = try Listing(of: remains)
        #expect { try SQLiteStorageEngine(readingFile: file) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .cannotOpen && error.message.contains("Open the file for writing")
        }
        #expect(try Listing(of: remains) == before)
        try await SQLiteStorageEngine(openingFile: file, mustExist: true).close()
        let engine = try SQLiteStorageEngine(readingFile: file)
        #expect(try await engine.fetch(key: CacheKey("first")) == Data("value of \"first\"".utf8))
    }
}

/// Writers and readers in one process.
@Suite struct SQLiteReadingInOneProcessTests {

    @Test(
        "A file that is read can be opened for writing in the same process, in each state",
        arguments: ["closed", "left by a crash", "left without an index"])
    func writingAfterReading(state: String) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let child = try Child("write", "sqlite", folder.path, "full", "r", state == "closed" ? "1" : "100000")
        _ = await child.nextLine()
        if state != "closed" { child.kill() }
        _ = await child.lines()
        if state == "left without an index" { try FileManager.default.removeItem(at: folder.file("data.sqlite3-shm")) }

        let readers = try (0..<3).map { _ in try SQLiteStorageEngine(readingFile: file) }
        let before = try await readers[0].fetchCount()
        for reader in readers { #expect(try await reader.fetchCount() == before) }
        let writer = try SQLiteStorageEngine(openingFile: file)
        for number in 1...3 {
            try await writer.write(Data("new".utf8), key: CacheKey("new \(number)"))
            for reader in readers { #expect(try await reader.fetchCount() == before + number) }
        }
        // Another process must not consider the file closed because a reader has released it.
        let lines = await (try Child("count", "sqlite", folder.path)).lines()
        #expect(lines == ["\(before + 3)"])
        try await writer.write(Data("new".utf8), key: CacheKey("new 4"))
        #expect(try await readers[2].fetchCount() == before + 4)
        #expect(try await writer.integrityCheck() == [])
        for reader in readers { try await reader.close() }
        try await writer.close()
        #expect(try folder.names() == ["data.sqlite3"])
    }

    @Test("Recognizing the kind of a store, and reading it, keep the locks of the process's writers")
    func locksStay() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let writer = try SQLiteStorageEngine(openingFile: file)
        try await writer.write(Data("1".utf8), key: CacheKey("1"))
        #expect(try StorageAddress(parsing: file.path) == .sqlite(file.path))
        try await SQLiteStorageEngine(readingFile: file).close()
        // The last process to close the file removes the WAL, and this process has the file open.
        let lines = await (try Child("count", "sqlite", folder.path)).lines()
        #expect(lines == ["1"])
        #expect(try folder.names().contains("data.sqlite3-wal"))
        try await writer.close()
    }

    @Test("No change is lost when writers open and close a file that others in the process read")
    func manyWriters() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try await SQLiteStorageEngine(openingFile: file).close()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<3 {
                group.addTask {
                    let engine = try SQLiteStorageEngine(readingFile: file)
                    var last = 0
                    while last < 20 {
                        let count = try await engine.fetchCount()
                        #expect(count >= last, "reader \(reader)")
                        last = count
                    }
                }
            }
            group.addTask {
                for number in 0..<20 {
                    let engine = try SQLiteStorageEngine(openingFile: file)
                    try await engine.write(Data(), key: CacheKey("\(number)"))
                    try await engine.close()
                }
            }
            try await group.waitForAll()
        }
    }
}
