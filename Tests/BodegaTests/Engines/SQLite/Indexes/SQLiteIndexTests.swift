import BodegaTesting
import Foundation
import GRDB
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

@Suite("An index of SQLite")
struct SQLiteIndexTests {

    private let folder = TemporaryFolder()
    private let engine: SQLiteStorageEngine
    private let index = StorageIndex("a")

    init() throws { engine = try SQLiteStorageEngine(opening: folder.directory) }

    private var file: URL { folder.file("data.sqlite3") }

    private func item(_ value: String) -> Data { Data("{\"a\":\(value)}".utf8) }

    private func fill(_ count: Int = 300, in engine: SQLiteStorageEngine? = nil) async throws {
        try await (engine ?? self.engine).write(
            (0..<count).map { (CacheKey(verbatim: "\($0)"), item($0 % 7 == 0 ? "null" : "\($0 % 50)")) })
    }

    /// Whether all statements of a scan search in the index.
    private func plans(of body: @escaping @Sendable (SQLiteTable, Database) throws -> Void) async throws -> [String] {
        let table = engine.table
        return try await engine.core.readMany { db in
            let statements = Locked<[String]>([])
            db.trace { event in
                if case .statement(let statement) = event { statements.withLock { $0.append(statement.sql) } }
            }
            try body(table, db)
            db.trace()
            return try statements.withLock { $0 }.filter { $0.hasPrefix("SELECT") }.map { sql in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments(StatementArguments())
                let plan = try Row.fetchAll(statement).map { $0["detail"] as String }.joined(separator: "; ")
                let program = try db.makeStatement(sql: "EXPLAIN " + sql)
                program.setUncheckedArguments(StatementArguments())
                let parses = try Row.fetchAll(program).contains { ($0["p4"] as String?)?.hasPrefix("json") ?? false }
                return plan + (parses ? "; PARSES" : "")
            }
        }
    }

    @Test("is used for ranges, in both directions, for equality, for items without a value and for unknown ones")
    func plans() async throws {
        try await fill()
        try await engine.createIndex(index)
        let index = index
        let (low, high) = (StorageSortKeyBound.before(.integer(5)), StorageSortKeyBound.after(.integer(40)))
        let one = StorageSortKeyBound.after(.integer(5))
        let place = StoragePlace(sortKey: .integer(20), position: 70)
        let scans: [StorageScan] = [
            .range(index, from: low, to: high, isDescending: false, after: nil),
            .range(index, from: low, to: high, isDescending: false, after: place),
            .range(index, from: low, to: high, isDescending: true, after: nil),
            .range(index, from: low, to: high, isDescending: true, after: place),
            .range(index, from: .start, to: .before(.none), isDescending: false, after: nil),
            .range(index, from: .start, to: .before(.none), isDescending: true, after: nil),
            .range(
                index, from: low, to: one, isDescending: false, after: StoragePlace(sortKey: .integer(5), position: 3)),
            .range(index, from: .before(.none), to: .end, isDescending: false, after: nil),
            .range(
                index, from: .before(.none), to: .end, isDescending: false,
                after: StoragePlace(sortKey: StorageSortKey.none, position: 3)),
            .irregular(index), .approximate(index, from: low, to: high),
        ]
        for scan in scans {
            let read = try await plans { table, db in try table.scan(scan, .data, in: db) { _ in true } }
            let counted = try await plans { table, db in _ = try table.count(scan, upTo: .max, in: db) }
            let limited = try await plans { table, db in _ = try table.count(scan, upTo: 10, in: db) }
            #expect(!read.isEmpty && !counted.isEmpty && !limited.isEmpty)
            for plan in read {
                let isByPlace = plan.contains("USING INTEGER PRIMARY KEY (rowid=?)")
                #expect(
                    isByPlace
                        || plan.contains("SEARCH data USING") && plan.contains("INDEX emporium_index:data:text:a"),
                    "\(scan): \(plan)")
                // Items with one key are read in insertion order from the index. Approximate ones come in any order.
                if case .approximate = scan { continue }
                #expect(!plan.contains("TEMP B-TREE"), "\(scan): \(plan)")
            }
            for plan in counted + limited {
                #expect(plan.contains("SEARCH data USING INDEX emporium_index:data:text:a"), "\(scan): \(plan)")
                // The index has the keys, so no item is read.
                #expect(!plan.contains("PARSES"), "\(scan): \(plan)")
            }
        }
    }

    @Test("gives each scan what reading all items gives")
    func scans() async throws {
        try await fill(400)
        try await engine.createIndex(index)
        let all = try await engine.fetch(FetchRequest(engine.fetchKeys(), [.data, .place], index: index)).value.sorted {
            $0.position < $1.position
        }
        var random = SeededGenerator(seed: Seed.current)
        for _ in 0..<60 {
            let bounds = (0..<2).map { _ in StorageSortKey.integer(Int64.random(in: -2...52, using: &random)) }.sorted()
            let (lower, upper) = (StorageSortKeyBound.before(bounds[0]), StorageSortKeyBound.after(bounds[1]))
            let isDescending = Bool.random(using: &random)
            let limit = Int.random(in: 1...200, using: &random)
            var expected = all.filter { lower <= .before($0.sortKey!) && .after($0.sortKey!) <= upper }
            expected = expected.enumerated().sorted { left, right in
                let (first, second) = (left.element.sortKey!, right.element.sortKey!)
                return first == second ? left.offset < right.offset : (first < second) != isDescending
            }.map(\.element)
            let place = Bool.random(using: &random) ? expected.randomElement(using: &random)?.place : nil
            if let place { expected.removeFirst(expected.firstIndex { $0.place == place }! + 1) }
            let found = Locked<[CacheKey]>([])
            try await engine.scan([.range(index, from: lower, to: upper, isDescending: isDescending, after: place)]) {
                found.withLock { $0 = [] }
                return { _, entry in
                    found.withLock {
                        $0.append(entry.key)
                        return $0.count < limit
                    }
                }
            }
            #expect(found.withLock { $0 } == expected.prefix(limit).map(\.key), "seed \(Seed.current)")
        }
    }

    @Test("accepts any bytes that any program writes, and leaves the table as Bodega 2 knows it")
    func anyBytes() async throws {
        try await engine.createIndex(index)
        try await engine.createIndex(StorageIndex("a", isForText: false))
        let queue = try DatabaseQueue(path: file.path)
        var samples = ModelSamples(seed: Seed.current)
        for number in 0..<300 {
            if number % 40 == 0 { samples.beginRound() }
            let bytes = samples.document().bytes
            let value = number % 3 == 0 ? String(decoding: bytes, as: UTF8.self).databaseValue : bytes.databaseValue
            try await queue.write { db in
                try db.execute(
                    sql: #"INSERT OR REPLACE INTO "data" ("key", "value", "updatedAt") VALUES (?, ?, ?)"#,
                    arguments: ["\(number % 100)", value, "2022-09-01T12:00:00.000"])
            }
            if number % 5 == 0 {
                try await queue.write { db in
                    try db.execute(
                        sql: #"UPDATE "data" SET "value" = ? WHERE "key" = ?"#,
                        arguments: [value, "\(number / 2 % 100)"])
                }
            }
        }
        for (number, value) in ["5", "5.5", "'text'", "zeroblob(10)", "1e999"].enumerated() {
            try await queue.write { db in
                try db.execute(sql: #"INSERT INTO "data" ("key", "value") VALUES ('value \#(number)', \#(value))"#)
            }
        }
        let (rows, check, bytes) = try queue.read { db in
            (
                try Row.fetchAll(
                    db, sql: #"SELECT "key", "value", "createdAt", "updatedAt" FROM "data" ORDER BY rowid"#),
                try String.fetchAll(db, sql: "PRAGMA integrity_check"),
                try Data.fetchAll(db, sql: "SELECT CAST(value AS BLOB) FROM data ORDER BY rowid")
            )
        }
        #expect(check == ["ok"])
        #expect(rows.count == 105)
        #expect(try await engine.fetchAll().map(\.data) == bytes)
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test("is kept up to date by streamed writes")
    func streams() async throws {
        try await engine.createIndex(index)
        let key = CacheKey("large")
        let padding = String(repeating: "x", count: 3_000_000)
        for value in [3, 4] {
            try await engine.write(
                stream: StorageByteStream(Data("{\"p\":\"\(padding)\",\"a\":\(value)}".utf8)), key: key)
            let entries = try await engine.fetch(FetchRequest([key], [.data, .place], index: index)).value
            #expect(entries.map(\.sortKey) == [.integer(Int64(value))])
        }
        #expect(try await count(.integer(3), in: engine) == 0)
        #expect(try await count(.integer(4), in: engine) == 1)
        let parts = try #require(try await engine.fetchStream(key: key))
        var size = 0
        for try await part in parts { size += part.count }
        #expect(size == padding.utf8.count + 14)
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    private func count(_ key: StorageSortKey, in engine: SQLiteStorageEngine, by index: StorageIndex? = nil)
        async throws -> Int
    {
        try await engine.count(
            .range(index ?? self.index, from: .before(key), to: .after(key), isDescending: false, after: nil),
            upTo: .max)
    }

    @Test("can be created twice and removed twice, and an absent one is removed")
    func repeatedly() async throws {
        try await engine.removeIndex(index)
        try await fill()
        for _ in 0..<2 { try await engine.createIndex(index) }
        try await engine.createIndex(StorageIndex("a", isForText: false))
        #expect(try await engine.fetchIndexes() == [index, StorageIndex("a", isForText: false)])
        for _ in 0..<2 { try await engine.removeIndex(index) }
        #expect(try await engine.fetchIndexes() == [StorageIndex("a", isForText: false)])
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test(
        "over a path that SQLite can't express is an error with a code",
        arguments: [#"a"b"#, "a/b", "a\\\\b", "a\0", "x.\n"])
    func invalidPaths(_ path: String) async throws {
        for isForText in [false, true] {
            let index = StorageIndex(path, isForText: isForText)
            await #expect(throws: StorageError.self) { try await engine.createIndex(index) }
            do { try await engine.createIndex(index) } catch let error as StorageError {
                #expect(error.code == .invalidArgument)
            }
        }
        #expect(try await engine.fetchIndexes().isEmpty)
    }

    @Test(
        "has names with any other characters",
        arguments: [
            ["it's"], ["d.e"], ["", "x"], [""], ["a b"], ["\u{301}x"], ["\u{E9}"], ["e\u{301}"], ["a:b"], [":"], ["$"],
            ["[0]"], ["#"], ["*"],
            ["\u{1F600}"], ["x", "y", "z"], ["%_?"], ["a'); DROP TABLE data; --"], ["\u{7F}"], ["\u{FEFF}"], ["0"],
        ])
    func names(_ names: [String]) async throws {
        let index = StorageIndex(StorageIndex.Member.path(of: names))
        #expect(index.first.names.map { Array($0.unicodeScalars) } == names.map { Array($0.unicodeScalars) })
        let inner = names.reversed().reduce("7") { value, name in "{\(ModelSamples.plainSpelling(of: name)):\(value)}" }
        try await engine.write(Data(inner.utf8), key: CacheKey("x"))
        try await engine.createIndex(index)
        try await engine.createIndex(index)
        let found = try await engine.fetchIndexes()
        #expect(found == [index])
        #expect(found.map { Array($0.path.unicodeScalars) } == [Array(index.path.unicodeScalars)])
        #expect(try await count(.integer(7), in: engine, by: index) == 1)
        try await engine.removeIndex(index)
        #expect(try await engine.fetchIndexes().isEmpty)
    }

    @Test("differs from one whose name has other cases or another normal form")
    func similarNames() async throws {
        try await engine.write(
            Data("{\"name\":1,\"Name\":2,\"NAME\":3,\"\u{E9}\":4,\"e\u{301}\":5}".utf8), key: CacheKey("x"))
        let names = ["name", "Name", "NAME", "\u{E9}", "e\u{301}"]
        let indexes = names.map { StorageIndex($0) }
        for index in indexes { try await engine.createIndex(index) }
        #expect(try await engine.fetchIndexes().count == 5)
        #expect(Set(indexes).count == 5)
        for (index, value) in zip(indexes, 1...) {
            #expect(try await count(.integer(Int64(value)), in: engine, by: index) == 1)
        }
        try await engine.removeIndex(indexes[0])
        #expect(try await engine.fetchIndexes().count == 4)
    }

    @Test("belongs to one collection")
    func collections() async throws {
        let names = ["people", "it's \"quoted\"", "a:b", "Ünïcode"]
        for name in names {
            let collection = try engine.collection(named: name)
            try await collection.createIndex(index)
            try await fill(100, in: collection)
            #expect(try await collection.fetchIndexes() == [index])
            #expect(try await count(.integer(5), in: collection) == 2)
        }
        #expect(try await engine.fetchIndexes().isEmpty)
        try await engine.createIndex(index)
        try await engine.collection(named: "people").removeIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        #expect(try await engine.collectionNames().sorted() == names.sorted())
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test("is used by an engine that only reads, which can't create one")
    func reading() async throws {
        try await fill()
        try await engine.createIndex(index)
        try await engine.close()
        let reader = try SQLiteStorageEngine(readingFile: file)
        #expect(try await reader.fetchIndexes() == [index])
        #expect(try await count(.integer(5), in: reader) == 5)
        for call in [reader.createIndex, reader.removeIndex] {
            await #expect(throws: StorageError.self) { try await call(StorageIndex("b")) }
            do { try await call(StorageIndex("b")) } catch let error as StorageError {
                #expect(error.code == .readOnly)
            }
        }
    }

    @Test("can be over the items of Bodega 2")
    func original() async throws {
        let queue = try DatabaseQueue(path: folder.file("old.sqlite3").path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS "data" ("key" TEXT PRIMARY KEY NOT NULL, "value" BLOB NOT NULL, \
                    "createdAt" TEXT NOT NULL DEFAULT ('2022-08-01T12:00:00.000'), \
                    "updatedAt" TEXT NOT NULL DEFAULT ('2022-08-01T12:00:00.000'))
                    """)
            try db.execute(sql: #"INSERT INTO "data" ("key", "value") VALUES ('x', '{"a":5}')"#)
        }
        let reader = try SQLiteStorageEngine(readingFile: folder.file("old.sqlite3"))
        #expect(try await reader.fetchIndexes().isEmpty)
        try await reader.close()
        let engine = try SQLiteStorageEngine(opening: folder.directory, databaseFilename: "old")
        try await engine.createIndex(index)
        try await queue.write { db in
            try db.execute(
                sql:
                    #"INSERT OR REPLACE INTO "data" ("key", "value", "updatedAt") VALUES ('y', '{"a":5}', '2022-09-01T12:00:00.000')"#
            )
            try db.execute(sql: #"UPDATE "data" SET "value" = '{"a":6}' WHERE "key" = 'x'"#)
        }
        #expect(try await count(.integer(5), in: engine) == 1)
        try await engine.write(item("5"), key: CacheKey(verbatim: "x"))
        #expect(try await count(.integer(5), in: engine) == 2)
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test("of another version is ignored, and replaced by a new one")
    func versions() async throws {
        try await fill()
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { db in
            try db.execute(
                sql: #"CREATE INDEX "emporium_index:data:text:a" ON "data" (json_valid(CAST(value AS TEXT)))"#)
            // Of another version that has more paths, and of another program.
            try db.execute(sql: #"CREATE INDEX "emporium_index:data:text:x/y" ON "data" (length(value))"#)
            try db.execute(sql: #"CREATE INDEX "emporium_index:data:other" ON "data" (length(value))"#)
            try db.execute(sql: #"CREATE INDEX "theirs" ON "data" (updatedAt)"#)
        }
        #expect(try await engine.fetchIndexes().isEmpty)
        #expect(try await count(.integer(5), in: engine) == 5)
        try await engine.createIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        #expect(try await count(.integer(5), in: engine) == 5)
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
    }

    @Test("is intact after any writes and removals")
    func integrity() async throws {
        var samples = ModelSamples(seed: Seed.current)
        for path in ["a", "b", "n.c"] {
            try await engine.createIndex(StorageIndex(path))
            try await engine.createIndex(StorageIndex(path, isForText: false))
        }
        for step in 0..<120 {
            let keys = (0..<5).map { _ in CacheKey(verbatim: "\(Int.random(in: 0..<60, using: &samples.random))") }
            switch step % 4 {
            case 0, 1: try await engine.write(keys.map { ($0, samples.document().bytes) })
            case 2: try await engine.write(samples.document().bytes, key: keys[0])
            default: try await engine.remove(keys: keys)
            }
            if step == 60 { try await engine.removeAllData() }
        }
        #expect(try await engine.examine().filter { $0.severity == .problem }.map(\.description) == [])
        let check = try await DatabaseQueue(path: file.path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
    }
}
