@testable import Bodega
import BodegaTesting
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

/// Collections that come and go. What is in the file is read with SQL.
@Suite struct SQLiteCollectionRemovalTests {

    private let folder = TemporaryFolder()
    private let key = CacheKey("a")
    private let data = Data("1".utf8)

    private var file: URL { folder.file("data.sqlite3") }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    /// The names of the tables, triggers and indexes of collections.
    private func schema() throws -> [String] {
        try DatabaseQueue(path: file.path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE name GLOB 'emporium_*' AND name <> 'emporium_collections'
                    ORDER BY name
                    """)
        }
    }

    private func size() throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    }

    @Test("A removed collection leaves nothing in the file, and the others stay")
    func removal() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let kept = try engine.collection(named: "kept")
        try await kept.write(data, key: key)
        let before = try (schema(), size())
        let name = "with\0NUL, é"
        let removed = try engine.collection(named: name)
        try await removed.write((0..<500).map { (CacheKey("\($0)"), Data(count: 10_000)) })
        _ = try await removed.fetchCursor()
        try await removed.createIndex(StorageIndex("n"))
        #expect(try schema().count > before.0.count + 5)
        #expect(try await engine.collectionNames() == ["kept", name])
        try await engine.removeCollection(named: "with")
        try await engine.removeCollection(named: "")
        try await engine.removeCollection(named: "absent")
        #expect(try await removed.fetchCount() == 500)
        try await engine.removeCollection(named: name)
        #expect(try await engine.collectionNames() == ["kept"])
        #expect(try schema() == before.0)
        #expect(try await kept.fetchAllData() == [data])
        #expect(try await engine.examine().isEmpty)
        try await engine.close()
        #expect(try size() < before.1 + 100_000)
    }

    @Test("Engines on a removed collection report it, also when its name is used again", arguments: [false, true])
    func openEngines(isOther: Bool) async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        _ = try engine.collection(named: "first")
        let removed = try engine.collection(named: "c")
        try await removed.write(data, key: key)
        let cursor = try await removed.fetchCursor()
        let remover = isOther ? try SQLiteStorageEngine(opening: folder.directory) : removed
        try await remover.removeCollection(named: "c")
        for isUsedAgain in [false, true] {
            #expect(await code { try await removed.write(data, key: key) } == .placeRemoved)
            #expect(await code { try await removed.apply([.removeAll]) } == .placeRemoved)
            #expect(await code { try await removed.apply([], if: [.init(key: key, data: nil)]) } == .placeRemoved)
            #expect(await code { try await removed.fetch(key: key) } == .placeRemoved)
            #expect(await code { try await removed.fetchAll() } == .placeRemoved)
            #expect(await code { try await removed.fetchStream(key: key) } == .placeRemoved)
            #expect(await code { try await removed.fetchCursor() } == .placeRemoved)
            #expect(await code { try await removed.fetchSnapshot() } == .placeRemoved)
            #expect(try await removed.fetchChanges(since: cursor, excluding: nil) == nil)
            // The first time, the number of the removed collection was the greatest one.
            let new = try engine.collection(named: "c")
            #expect(try await new.fetchCount() == (isUsedAgain ? 1 : 0))
            try await new.write(Data("2".utf8), key: key)
        }
        try await engine.removeCollection(named: "first")
        _ = try engine.collection(named: "z")
        #expect(try await engine.collectionNames() == ["c", "z"])
        #expect(try await engine.collection(named: "c").fetchAllData() == [Data("2".utf8)])
    }

    @Test("A collection that is removed while a statement is prepared again is reported as such, as before")
    func preparedStatement() throws {
        // SQLite's code if other connections have changed the schema during both attempts to prepare the statement.
        for code in [ResultCode.SQLITE_ERROR, .SQLITE_SCHEMA] {
            let error = DatabaseError(resultCode: code, message: "no such table: emporium_collection_78")
            #expect(StorageError.sqlite(error, file: file).isOfRemovedCollection)
        }
        let other = DatabaseError(resultCode: .SQLITE_SCHEMA, message: "database schema has changed")
        #expect(StorageError.sqlite(other, file: file).code == .inputOutput)
    }

    @Test("A collection of which only the name is known is not created by reading, but by writing")
    func reading() async throws {
        do {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            _ = try engine.collection(named: "existing")
            try await engine.write(data, key: key)
            try await engine.close()
        }
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let before = try (schema(), size())
        for number in 0..<1_000 {
            let collection = SQLiteCollection(named: "absent \(number)", in: engine)
            #expect(try collection.data(of: key) == nil)
            #expect(try !collection.contains(key))
            #expect(try collection.allItems().isEmpty)
            #expect(try collection.allValues().isEmpty)
            try collection.remove { #expect($0.removed.isEmpty) }
        }
        #expect(try schema() == before.0)
        try await engine.close()
        #expect(try size() == before.1)
        let again = try SQLiteStorageEngine(opening: folder.directory)
        let (collection, other) = (SQLiteCollection(named: "c", in: again), SQLiteCollection(named: "c", in: again))
        func write(_ text: String) throws {
            try collection.update(at: Date()) { _ in
                [.write(key: CacheKey("a"), data: Data(text.utf8))]
            } committed: { _ in
            }
        }
        try write("1")
        #expect(try other.allValues() == [Data("1".utf8)])
        try await again.removeCollection(named: "c")
        #expect(try collection.allValues().isEmpty && other.data(of: key) == nil)
        #expect(try await again.collectionNames() == ["existing"])
        try write("2")
        #expect(try other.allValues() == [Data("2".utf8)])
        let removed = Locked<[Data]>([])
        try other.remove { change in removed.withLock { $0 = change.removed.map(\.data) } }
        #expect(removed.withLock { $0 } == [Data("2".utf8)])
        #expect(try collection.data(of: key) == nil)
        #expect(try await again.collectionNames() == ["existing"])
    }

    @Test("Items of a collection that a damaged register lacks don't get into a new one")
    func damagedRegister() async throws {
        do {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            for name in ["a", "b"] { try await engine.collection(named: name).write(data, key: key) }
            try await engine.close()
        }
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { try $0.execute(sql: "DELETE FROM emporium_collections WHERE name = 'b'") }
        try queue.close()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        #expect(try await engine.collection(named: "c").fetchCount() == 0)
        #expect(try await engine.examine().contains { $0.severity == .problem })
    }

    // MARK: Costs

    /// Counts the rows that a connection reads, including those of the schema.
    private final class RowCounter {
        private(set) var rows = 0

        func watch(_ db: Database) {
            sqlite3_trace_v2(
                db.sqliteConnection, UInt32(SQLITE_TRACE_ROW),
                { _, counter, _, _ in
                    if let counter { Unmanaged<RowCounter>.fromOpaque(counter).takeUnretainedValue().rows += 1 }
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    @Test("A read after a new collection costs the same, however many there are, also in another process")
    func readsBetween() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        // Another connection, as another process has it.
        let other = try DatabaseQueue(path: file.path)
        let counter = RowCounter()
        try withExtendedLifetime(counter) {
            other.inDatabase { counter.watch($0) }
            func rows(_ numbers: Range<Int>) throws -> Int {
                let before = counter.rows
                for number in numbers {
                    _ = try engine.collection(named: "\(number)")
                    try other.inDatabase { try $0.execute(sql: "SELECT count(*) FROM data") }
                }
                return counter.rows - before
            }
            _ = try rows(0..<100)
            let first = try rows(100..<200)
            _ = try rows(200..<900)
            let last = try rows(900..<1_000)
            #expect(first > 100)
            // Nine times as many without spare tables.
            #expect(last < 3 * first, "\(first) rows, then \(last)")
        }
        let tables = try schema().filter { $0.hasPrefix("emporium_collection_") }
        #expect((1_000...1_100).contains(tables.count))
    }

    /// The number of statements that a connection has prepared.
    private func statements(of db: Database) -> Int {
        var (count, statement) = (0, sqlite3_next_stmt(db.sqliteConnection, nil))
        while statement != nil {
            count += 1
            statement = sqlite3_next_stmt(db.sqliteConnection, statement)
        }
        return count
    }

    /// The numbers of statements of a connection that reads and of the one that writes.
    private func statements(of engine: SQLiteStorageEngine) throws -> [Int] {
        [
            try engine.core.blockingReadOne { statements(of: $0) },
            try engine.core.blockingWritable().writer.unsafeRead { statements(of: $0) },
        ]
    }

    @Test("The number of prepared statements does not grow with the number of collections")
    func statements() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let collections = try (0..<400).map { try engine.collection(named: "\($0)") }
        var most = [0, 0]
        for collection in collections {
            try await collection.write(data, key: key)
            #expect(try await collection.fetch(key: key) == data)
            #expect(try await collection.fetchCount() == 1)
            #expect(try await collection.fetchDates(key: key) != nil)
            #expect(try await collection.fetchAllData() == [data])
            most = zip(most, try statements(of: engine)).map { max($0, $1) }
        }
        for count in most { #expect(count > 300 && count < 600) }
        // A statement in use survives that the others are released.
        try engine.core.blockingReadMany { db in
            let statement = try SQLiteStatement("SELECT value FROM json_each('[1, 2, 3]')", in: db)
            defer { statement.reset() }
            var found: [Int?] = []
            while try statement.step() {
                found.append(statement.integer(at: 0))
                for number in 0..<400 {
                    let other = try SQLiteStatement("SELECT \(number), \(found.count)", in: db)
                    #expect(try other.step())
                    other.reset()
                }
            }
            #expect(found == [1, 2, 3])
        }
    }

    @Test("Signals that are no longer heard are forgotten, and those of later followers are not")
    func signals() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        for number in 0..<50 {
            let collection = try engine.collection(named: "\(number)")
            _ = try await collection.fetchCursor()
            for _ in 0..<2 {
                var signals = collection.changeSignals().makeAsyncIterator()
                #expect(await signals.next() != nil)
                try await collection.write(data, key: key)
                #expect(await signals.next() != nil)
            }
        }
        #expect(engine.core.watch.followedCount <= 1)
    }
}
