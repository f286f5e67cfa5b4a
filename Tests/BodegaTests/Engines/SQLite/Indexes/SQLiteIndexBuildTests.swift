import BodegaTesting
import CSQLiteConfiguration
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Another connection changes the table between the parts, with plain SQL. SQLite's integrity check computes the keys
/// of each row, and compares them with the entries of the index.
@Suite("The creation of an index in parts")
struct SQLiteIndexBuildTests {

    let folder = TemporaryFolder()
    let engine: SQLiteStorageEngine
    /// Does not wait for locks.
    let other: DatabaseQueue
    let index = StorageIndex("a")

    init() throws {
        engine = try SQLiteStorageEngine(opening: folder.directory)
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        other = try DatabaseQueue(path: folder.file("data.sqlite3").path, configuration: configuration)
    }

    func fill(_ count: Int = 60) async throws {
        try await engine.write((0..<count).map { (CacheKey(verbatim: "\($0)"), Data("{\"a\":\($0 % 20)}".utf8)) })
    }

    func builder(
        of index: StorageIndex? = nil, rows: Int = 7, progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) throws -> SQLiteIndexBuilder {
        var builder = try SQLiteIndexBuilder(
            of: SQLiteIndex(index ?? self.index, of: engine.table), engine.table, in: engine.core, progress: progress)
        builder.pace = SQLiteIndexBuilder.Pace(
            limits: SQLiteIndexBuild.Limits(rows: rows, bytes: 1 << 20), pause: .zero, rows: rows...rows)
        return builder
    }

    /// The names of all that a creation leaves in a file.
    func remains(in file: String = "data") throws -> [String] {
        try DatabaseQueue(path: folder.file("\(file).sqlite3").path).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'emporium_build%'")
        }
    }

    func expectComplete(
        _ indexes: Set<StorageIndex>? = nil, in file: String = "data", _ engine: SQLiteStorageEngine? = nil,
        _ comment: Comment? = nil
    ) async throws {
        #expect(try await (engine ?? self.engine).fetchIndexes() == indexes ?? [index], comment)
        #expect(try remains(in: file) == [], comment)
        let check = try await DatabaseQueue(path: folder.file("\(file).sqlite3").path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"], comment)
    }

    @Test("gives the index that SQLite would, with the same name and definition")
    func result() async throws {
        let indexes = [index, StorageIndex("a", isForText: false), StorageIndex("it's (é).N")]
        try await fill()
        try await engine.write((0..<30).map { (CacheKey(verbatim: "x\($0)"), Data("{\"a\":\"\($0)\"}".utf8)) })
        try await engine.write((0..<9).map { (CacheKey(verbatim: "y\($0)"), Data("{\"a\":null}, \($0)".utf8)) })
        for index in indexes { try await builder(of: index).create() }
        try await expectComplete(Set(indexes))
        let read = "SELECT sql FROM sqlite_master WHERE name LIKE 'emporium_index%' ORDER BY name"
        let built = try await other.read { try String.fetchAll($0, sql: read) }
        for index in indexes { try await engine.removeIndex(index) }
        for index in indexes { try await engine.createIndex(index) }
        #expect(try await other.read { try String.fetchAll($0, sql: read) } == built)
        let plan = try await other.read {
            try String.fetchAll(
                $0, sql: "EXPLAIN QUERY PLAN SELECT 1 FROM data INDEXED BY \"emporium_index:data:text:a\"")
        }
        #expect(plan.count == 1)
    }

    private func randomStatement(_ random: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let (key, row, other) = (number(0...80), number(-3...90), number(0...80))
        let values = [
            "{\"a\":\(number(0...9))}", "{}", "[", "{\"a\":\"t\(number(0...9))\"}", "{\"a\":\(number(0...99)).5}",
        ]
        let value = values[number(0...values.count - 1)]
        let conflicts = ["", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK"]
        let conflict = conflicts[number(0...conflicts.count - 1)]
        return switch number(0...9) {
        case 0: "INSERT \(conflict) INTO data (key, value) VALUES ('\(key)', '\(value)')"
        case 1: "INSERT OR REPLACE INTO data (rowid, key, value) VALUES (\(row), '\(key)', '\(value)')"
        case 2:
            """
            INSERT INTO data (key, value) VALUES ('\(key)', '\(value)')
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """
        case 3: "UPDATE data SET value = '\(value)' WHERE key BETWEEN '\(key)' AND '\(key + 3)'"
        case 4: "UPDATE \(conflict) data SET key = '\(other)' WHERE key = '\(key)'"
        case 5: "UPDATE \(conflict) data SET rowid = \(row) WHERE key = '\(key)'"
        case 6: "UPDATE OR REPLACE data SET rowid = \(row), key = '\(other)' WHERE key = '\(key)'"
        case 7: "DELETE FROM data WHERE key = '\(key)'"
        case 8: "DELETE FROM data WHERE rowid > \(row) AND rowid < \(row + 4)"
        default: "INSERT INTO data (rowid, key, value) VALUES (9223372036854775807 - \(row + 3), '\(key)', '\(value)')"
        }
    }

    @Test("beside any statements of other programs, between any parts, gives the index that SQLite would")
    func statements() async throws {
        print("statements beside the creation of an index: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let partial = StorageIndex("a").where("a", equals: .integer(3), isForText: false)
        for round in 0..<TestSizes.indexBuilds {
            for index in [self.index, partial] { try await engine.removeIndex(index) }
            let index = round % 3 == 2 ? partial : self.index
            try await fill(Int.random(in: 20...80, using: &random))
            let source = Locked(random)
            let done = Locked<[String]>([])
            random = SeededGenerator(seed: random.next())
            try await builder(of: index, rows: Int.random(in: 1...12, using: &random)) { [other] count, total in
                source.withLock { random in
                    for _ in 0..<Int.random(in: 0...3, using: &random) {
                        let sql = randomStatement(&random)
                        done.withLock { $0.append(sql) }
                        // The writer finds no lock. Conflicts are errors.
                        do {
                            try other.writeWithoutTransaction { try $0.execute(sql: sql) }
                        } catch let error as DatabaseError {
                            #expect(error.resultCode == .SQLITE_CONSTRAINT, "\(error)")
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }.create()
            try await expectComplete([index], nil, "round \(round), seed \(Seed.current), \(done.withLock { $0 })")
        }
    }

    func expectComplete(_ comment: Comment) async throws {
        try await expectComplete(nil, in: "data", nil, comment)
    }

    @Test("beside batches, streams and removals of this package gives the index that SQLite would")
    func engineWrites() async throws {
        let origin = StorageOrigin()
        _ = try await engine.fetchCursor()
        var random = SeededGenerator(seed: Seed.current)
        for round in 0..<8 {
            try await engine.removeIndex(index)
            try await fill(70)
            let keys = (0..<300).map { _ in CacheKey(verbatim: "\(Int.random(in: 0..<400, using: &random))") }
            let steps = Locked(0)
            let builder = try builder(rows: 10)
            let writing = Locked<[Task<Void, any Error>]>([])
            var reporting = builder
            reporting = try SQLiteIndexBuilder(
                of: SQLiteIndex(index, of: engine.table), engine.table, in: engine.core
            ) { [engine] _, _ in
                let step = steps.withLock {
                    $0 += 1
                    return $0
                }
                writing.withLock { tasks in
                    tasks.append(
                        Task {
                            switch (step + round) % 4 {
                            case 0:
                                _ = try await engine.apply(
                                    StorageBatch(
                                        keys.map { .write(key: $0, data: Data("{\"a\":\(step)}".utf8)) }, origin: origin
                                    ))
                            case 1:
                                let text = "{\"a\":\(step),\"x\":\"\(String(repeating: "x", count: 70_000))\"}"
                                try await engine.write(stream: StorageByteStream(Data(text.utf8)), key: keys[step])
                            case 2: try await engine.remove(keys: Array(keys.prefix(20)))
                            default: if step == 7 { try await engine.removeAllData() }
                            }
                        })
                }
            }
            reporting.pace = builder.pace
            try await reporting.create()
            for task in writing.withLock({ $0 }) { try await task.value }
            try await expectComplete("round \(round), seed \(Seed.current)")
        }
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test("lets a writer find no lock after each part, and reports each part")
    func progress() async throws {
        try await fill(100)
        let reports = Locked<[[Int]]>([])
        try await builder(rows: 9) { [other] count, total in
            reports.withLock { $0.append([count, total]) }
            do {
                try other.write { try $0.execute(sql: "UPDATE data SET updatedAt = updatedAt WHERE key = '3'") }
            } catch {
                Issue.record(error)
            }
        }.create()
        let expected = stride(from: 0, to: 100, by: 9).map { [$0, 100] } + [[100, 100], [100, 100]]
        #expect(reports.withLock { $0 } == expected)
        try await expectComplete()
        reports.withLock { $0 = [] }
        try await engine.createIndex(StorageIndex("b")) { count, total in
            reports.withLock { $0.append([count, total]) }
        }
        #expect(reports.withLock { $0 } == [[100, 100]])
    }

    @Test("has parts of a size, and of a number of items")
    func parts() async throws {
        try await fill(50)
        try await engine.write(Data(repeating: 0x20, count: 5_000), key: CacheKey(verbatim: "20"))
        let build = try SQLiteIndexBuild(of: SQLiteIndex(index, of: engine.table), engine.table)
        let parts = try await engine.core.readMany { db in
            var parts: [[Int]] = []
            var first = 1
            while first <= 50 {
                let part = try build.part(from: first, to: 50, .init(rows: 30, bytes: 1_000), in: db)
                parts.append([part.first, part.last, part.count])
                first = part.last + 1
            }
            return parts
        }
        #expect(parts == [[1, 20, 20], [21, 21, 1], [22, 50, 29]])
    }

    @Test("happens in one transaction if another program has given the table a unique index")
    func uniqueIndex() async throws {
        try await fill(60)
        try await other.write { try $0.execute(sql: "CREATE UNIQUE INDEX theirs ON data (value, key)") }
        try await builder { [other] count, _ in
            #expect(count == 60)
            do {
                try other.write { try $0.execute(sql: "INSERT OR REPLACE INTO data (key, value) VALUES ('z', '{}')") }
            } catch {
                Issue.record(error)
            }
        }.create()
        try await expectComplete()
    }

    @Test("changes the schema on a connection that refuses this by default, and leaves that as it was")
    func defensive() async throws {
        try await fill(60)
        try await engine.core.writeUnreported { db in _ = db.sqliteConnection.map { emporium_sqlite_defend($0, 1) } }
        try await builder().create()
        try await expectComplete()
        try await engine.core.writeUnreported { db in
            #expect(db.sqliteConnection.map { emporium_sqlite_defend($0, 1) } == 1)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = sql")
            }
        }
    }

    @Test("is the same for a connection that has read the schema before, which sees the index and its entries")
    func otherConnections() async throws {
        try await fill(60)
        let count = """
            SELECT count(*) FROM data INDEXED BY "emporium_index:data:text:a" WHERE \
            \(try SQLiteIndex(index, of: engine.table).expressions[0]) = 5
            """
        #expect(throws: DatabaseError.self) { try other.read { try Int.fetchOne($0, sql: count) } }
        try await builder().create()
        #expect(try await other.read { try Int.fetchOne($0, sql: count) } == 3)
        try await other.write { try $0.execute(sql: "UPDATE data SET value = '{\"a\":5}' WHERE key = '1'") }
        #expect(try await other.read { try Int.fetchOne($0, sql: count) } == 4)
        try await expectComplete()
    }
}
