import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Files of a program that was killed in the first transaction after it had opened them: the index of the WAL is that
/// of an empty one, and has other salts.
@Suite struct EmptyLogTests {
    private let folder = TemporaryFolder()

    /// The index that SQLite 3.40 leaves.
    private func index() throws -> Data {
        let header =
            "18e22d0000000000000000000100000000000000000000000000000000000000" + "00000000000000003807180635"
            + "93db09"
        let rest =
            String(repeating: "0", count: 8) + String(repeating: "0", count: 16) + String(repeating: "f", count: 24)
        let start = try #require(bytes(header + header + rest))
        return start + Data(count: 32_768 - start.count)
    }

    private func bytes(_ hex: String) -> Data? {
        let digits = Array(hex.utf8)
        let numbers = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return numbers.contains(nil) ? nil : Data(numbers.compactMap { $0 })
    }

    private func file(_ name: String, _ suffix: String = "") -> URL {
        folder.url.appendingPathComponent(name + suffix)
    }

    private func contents(_ name: String) throws -> [Data] {
        try ["", "-wal", "-shm"].map { try Data(contentsOf: file(name, $0)) }
    }

    private func write(_ numbers: ClosedRange<Int>, to engine: SQLiteStorageEngine) async throws {
        for number in numbers { try await engine.write(Data("\(number)".utf8), key: CacheKey("\(number)")) }
    }

    /// Checks that items are read without a change of the files, and those of a writer that comes afterwards, too.
    private func check(_ name: String, count: Int) async throws {
        let before = try contents(name)
        let reading = try SQLiteStorageEngine(readingFile: file(name), lockTimeout: 1)
        #expect(try await reading.fetchCount() == count)
        #expect(try await reading.fetchAllData().count == count)
        #expect(try contents(name) == before)
        let writer = try SQLiteStorageEngine(openingFile: file(name))
        try await write(100...100, to: writer)
        #expect(try await reading.fetchCount() == count + 1)
        try await write(101...101, to: writer)
        #expect(try await reading.fetchCount() == count + 2)
        #expect(try await SQLiteStorageEngine(readingFile: file(name)).fetchCount() == count + 2)
    }

    @Test func `A WAL with nothing but its header is read`() async throws {
        let engine = try SQLiteStorageEngine(openingFile: file("a"))
        try await write(1...3, to: engine)
        try await engine.close()
        #expect(!FileManager.default.fileExists(atPath: file("a", "-wal").path))
        // As it was found.
        let header = "377f0682002de2180000100000000000" + "a55a7c67157cff833c635db8784ab172"
        try #require(bytes(header)).write(to: file("a", "-wal"))
        try index().write(to: file("a", "-shm"))
        try await check("a", count: 3)
    }

    @Test(arguments: [0, 1, 100])
    func `What is committed in the WAL is read, and nothing else`(missing: Int) async throws {
        let engine = try SQLiteStorageEngine(openingFile: file("a"))
        try await write(1...3, to: engine)
        for name in ["b", "c"] {
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(at: file("a", suffix), to: file(name, suffix))
            }
            let log = try Data(contentsOf: file(name, "-wal"))
            try log.dropLast(missing).write(to: file(name, "-wal"))
            try index().write(to: file(name, "-shm"))
        }
        // What SQLite itself finds in a copy.
        let table = engine.table.name
        let expected = try await DatabaseQueue(path: file("c").path).write { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        #expect(missing == 0 ? expected == 3 : expected == 2)
        try await check("b", count: expected)
    }
}
