@testable import Bodega
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

/// The cost of creating collections, in rows that SQLite reads.
@Suite struct SQLiteCollectionCostTests {

    /// Counts the rows that connections read, including those of the schema.
    private final class RowCounter {
        private(set) var rows = 0

        func watch(_ db: Database) {
            let counter = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_trace_v2(
                db.sqliteConnection, UInt32(SQLITE_TRACE_ROW),
                { _, counter, _, _ in
                    if let counter { Unmanaged<RowCounter>.fromOpaque(counter).takeUnretainedValue().rows += 1 }
                    return 0
                }, counter)
        }

        /// The number of rows that a closure reads.
        func count(_ body: () throws -> Void) rethrows -> Int {
            let before = rows
            try body()
            return rows - before
        }
    }

    @Test("Creating a collection costs the same, however many there are")
    func creating() throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let counter = RowCounter()
        try withExtendedLifetime((engine, counter)) {
            try engine.core.blockingWritable().writer.writeWithoutTransaction { counter.watch($0) }
            // Successive reads use the same connection.
            try engine.core.blockingReadOne { counter.watch($0) }
            func create(_ numbers: Range<Int>) throws {
                for number in numbers { _ = try engine.collection(named: "\(number)") }
            }
            try create(0..<20)
            let first = try counter.count { try create(20..<70) }
            try create(70..<400)
            // Some of these create spare tables for those that follow.
            let last = try counter.count { try create(400..<450) }
            #expect(first > 0)
            #expect(last <= first * 3 / 2, "\(first) rows, then \(last)")
        }
    }

    @Test("An existing collection can be opened during an endless write")
    func openingBesideWriter() async throws {
        let folder = TemporaryFolder()
        let creator = try SQLiteStorageEngine(opening: folder.directory, collection: "a")
        // A released engine may close its last connection, which locks the file, on another thread and a little later.
        try await creator.close()
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: 0)
        let other = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try other.inDatabase { db throws in
            try db.execute(sql: "BEGIN IMMEDIATE")
            #expect(try engine.collection(named: "a").table.name == engine.collection(named: "a").table.name)
            #expect(throws: StorageError.self) { try engine.collection(named: "b") }
            try db.execute(sql: "ROLLBACK")
        }
        _ = try engine.collection(named: "b")
        // Also when this process creates collections.
        try other.inDatabase { db throws in
            try db.execute(sql: "BEGIN IMMEDIATE")
            _ = try engine.collection(named: "a")
            try db.execute(sql: "ROLLBACK")
        }
    }
}
