import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// The change log of an SQLite file where batches bypass the triggers.
@Suite struct SQLiteLogWriterTests {

    /// A collection, and its file as another program sees it.
    private struct Place {
        let folder = TemporaryFolder()
        let engine: SQLiteStorageEngine

        init(_ sql: String...) throws {
            engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            for sql in sql where !sql.isEmpty { try foreign(sql) }
        }

        func foreign(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
            try DatabaseQueue(path: engine.file.path).writeWithoutTransaction {
                try $0.execute(sql: sql, arguments: arguments)
            }
        }

        func count(_ sql: String) throws -> Int {
            try DatabaseQueue(path: engine.file.path).read { try Int.fetchOne($0, sql: sql) ?? 0 }
        }

        /// The log's rows after a number, without the nonces.
        func log(_ table: String = "data", after number: Int = -1) throws -> [Row] {
            let sql = """
                SELECT number, change, hex(key), kind, origin IS NULL FROM emporium_changes_\(table)
                WHERE number > ? ORDER BY number
                """
            return try DatabaseQueue(path: engine.file.path).read {
                try Row.fetchAll($0, sql: sql, arguments: [number])
            }
        }

        var isLogOnlyEffect: Bool {
            get async throws {
                try await engine.core.readMany { [table = engine.table] in try table.log.isOnlyEffect(in: $0) }
            }
        }
    }

    private static let columns = "value BLOB NOT NULL, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL, kind INTEGER"
    private static let idleTrigger = "CREATE TRIGGER t AFTER INSERT ON data WHEN 0 BEGIN SELECT 1; END"

    private func items(_ count: Int, _ prefix: String = "") -> [(key: CacheKey, data: Data)] {
        (0..<count).map { (CacheKey(verbatim: "\(prefix)\($0)"), Data("\($0)".utf8)) }
    }

    @Test(
        "Batches log what the triggers would log",
        arguments: [
            "key TEXT PRIMARY KEY NOT NULL": 100,
            "key TEXT PRIMARY KEY NOT NULL COLLATE NOCASE": 30,
            "key TEXT PRIMARY KEY ON CONFLICT REPLACE NOT NULL": 50,
            "key NUMERIC PRIMARY KEY NOT NULL": 30,
        ])
    func sameAsTriggers(key: String, steps: Int) async throws {
        let seed = Seed.current
        print("log writer test: EMPORIUM_SEED=\(seed)")
        var random = Choices(seed: seed)
        let table = "CREATE TABLE data (\(key), \(Self.columns))"
        let (own, other) = (try Place("DROP TABLE data", table), try Place("DROP TABLE data", table))
        try other.foreign(Self.idleTrigger)
        for place in [own, other] { _ = try await place.engine.fetchCursor() }
        #expect(try await own.isLogOnlyEffect == (key == "key TEXT PRIMARY KEY NOT NULL"))
        #expect(try await !other.isLogOnlyEffect)
        var last = -1
        for step in 0..<steps {
            // Items as Bodega 2 writes them, and one of a kind that only a later version knows.
            let change = [
                "UPDATE data SET kind = NULL WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &random.generator))",
                "UPDATE data SET kind = 7 WHERE key = ?",
            ].randomElement(using: &random.generator)
            if let change, Int.random(in: 0..<3, using: &random.generator) == 0 {
                let arguments: StatementArguments = change.hasSuffix("?") ? [random.key().rawValue] : []
                for place in [own, other] { try place.foreign(change, arguments) }
            }
            let isDated = Int.random(in: 0..<4, using: &random.generator) == 0
            let operations = random.operations()
            var outcomes: [String] = []
            for place in [own, other] {
                do {
                    if isDated {
                        let dates = StorageDates(createdAt: Date(timeIntervalSince1970: 0), updatedAt: Date())
                        try await place.engine.write(
                            items: operations.compactMap { operation in
                                guard case .write(let key, let data) = operation else { return nil }
                                return StorageItem(key: key, data: data, dates: dates)
                            })
                    } else {
                        try await place.engine.apply(operations)
                    }
                    outcomes.append("done")
                } catch let error as StorageError {
                    outcomes.append("\(error.code)")
                }
            }
            #expect(outcomes[0] == outcomes[1])
            let log = try own.log(after: last)
            try #require(try log == other.log(after: last), "seed \(seed), step \(step)")
            last = log.last?["number"] ?? last
        }
        let stored = (try await own.engine.fetchAll(), try await other.engine.fetchAll())
        #expect(stored.0.map(\.key) == stored.1.map(\.key) && stored.0.map(\.data) == stored.1.map(\.data))
        #expect(try own.log().count > 1000)
    }

    @Test(
        "Triggers of other programs run, also if they are created and dropped while the file is open",
        arguments: ["data", "DATA", "emporium_changes_data"])
    func foreignTriggers(table: String) async throws {
        let place = try Place("CREATE TABLE seen (number INTEGER PRIMARY KEY)")
        _ = try await place.engine.fetchCursor()
        try await place.engine.write(items(300, "a"))
        #expect(try await place.isLogOnlyEffect)
        try place.foreign("CREATE TRIGGER t AFTER INSERT ON \(table) BEGIN INSERT INTO seen VALUES (NULL); END")
        try await place.engine.write(items(300, "b"))
        #expect(try place.count("SELECT count(*) FROM seen") == 300)
        try place.foreign("DROP TRIGGER t")
        try await place.engine.write(items(300, "c"))
        try await place.engine.removeAllData()
        #expect(try place.count("SELECT count(*) FROM seen") == 300)
        #expect(try place.log().count == 1 + 900 + 900)
        #expect(try await place.isLogOnlyEffect)
    }

    @Test("Cascading removals of SQLite are logged")
    func references() async throws {
        let place = try Place()
        let named = try place.engine.collection(named: "named")
        try place.foreign("DROP TABLE emporium_collection_1")
        try place.foreign(
            """
            CREATE TABLE emporium_collection_1 (
                key TEXT PRIMARY KEY NOT NULL REFERENCES data (key) ON DELETE CASCADE, \(Self.columns)
            )
            """)
        for engine in [place.engine, named] {
            _ = try await engine.fetchCursor()
            try await engine.write(items(300))
        }
        try await place.engine.removeAllData()
        #expect(try await named.fetchCount() == 0)
        #expect(try place.log("1").count == 1 + 300 + 300)
    }

    @Test("Changes of other programs between batches are logged without a gap")
    func amongOthers() async throws {
        let place = try Place()
        let cursor = try await place.engine.fetchCursor()
        let child = try Child("write-rows", place.folder.path, "wal", "foreign", "60")
        var expected: Set<String> = []
        var rounds = 0
        let lines = Task { await child.lines() }
        while try await place.engine.fetchKeys(among: [CacheKey("foreign 59")]).isEmpty || rounds < 10 {
            let batch = items(250, "\(rounds) ")
            try await place.engine.write(batch)
            expected.formUnion(batch.map(\.key.rawValue))
            rounds += 1
            if rounds > 300 { break }
        }
        expected.formUnion(await lines.value)
        var keys: [String] = []
        var reached = cursor
        while true {
            let delta = try #require(await place.engine.fetchChanges(since: reached, excluding: nil))
            keys += delta.changes.map(\.key.rawValue)
            reached = delta.cursor
            if delta.isComplete { break }
        }
        #expect(keys.count == rounds * 250 + 60)
        #expect(Set(keys) == expected)
    }

    @Test("A log that any connection creates or removes between batches is complete", arguments: [false, true])
    func begunAndEnded(byAnother: Bool) async throws {
        let place = try Place()
        let other =
            byAnother
            ? try SQLiteStorageEngine(opening: place.folder.directory, durability: .relaxed) : place.engine
        for _ in 0..<2 {
            try await place.engine.write(items(300))
            let cursor = try await other.fetchCursor()
            try await place.engine.write(items(300))
            try await place.engine.removeAllData()
            #expect(try await other.fetchChanges(since: cursor, excluding: nil)?.changes.count == 600)
            try place.foreign("DROP TRIGGER emporium_changes_data_deleted")
            try await place.engine.write(items(300))
            let restarted = try await other.fetchCursor()
            try await place.engine.apply(items(300).map { .remove(key: $0.key) })
            #expect(try await other.fetchChanges(since: restarted, excluding: nil)?.changes.count == 300)
            try await other.removeChangeLog()
            try await place.engine.removeAllData()
        }
        #expect(try place.count("SELECT count(*) FROM sqlite_master WHERE name LIKE 'emporium_changes_%'") == 0)
    }

    @Test("Creating or removing a log in a transaction affects the rest of the transaction")
    func inOneTransaction() async throws {
        let place = try Place()
        let (table, date) = (place.engine.table, Date())
        let batch = StorageBatch(items(300).map { .write(key: $0.key, data: $0.data) })
        try await place.engine.core.writeUnreported { db in
            try table.log.begin(in: db)
            try table.apply(batch, at: date, in: db)
        }
        #expect(try place.log().count == 301)
        try await place.engine.core.writeUnreported { db in
            try table.log.remove(in: db)
            try table.apply(batch, at: date, in: db)
            try table.log.begin(in: db)
            try table.apply(batch, at: date, in: db)
        }
        #expect(try place.log().count == 301)
    }

    @Test("After a transaction that was rolled back, batches and triggers log as before")
    func rolledBack() async throws {
        struct Refusal: Error {}
        let place = try Place()
        let (core, table, date, items) = (place.engine.core, place.engine.table, Date(), items(300))
        let batch = StorageBatch(items.map { .write(key: $0.key, data: $0.data) })
        // The creation of a log and its removal are rolled back.
        await #expect(throws: StorageError.self) {
            try await core.writeUnreported { db in
                try table.log.begin(in: db)
                try table.apply(batch, at: date, in: db)
                throw Refusal()
            }
        }
        try await place.engine.write(items)
        _ = try await place.engine.fetchCursor()
        await #expect(throws: StorageError.self) {
            try await core.writeUnreported { db in
                try table.log.remove(in: db)
                try table.apply(batch, at: date, in: db)
                throw Refusal()
            }
        }
        try await place.engine.write(items)
        #expect(try place.log().count == 301)
        // A batch that fails halfway: the item's row and its detour have an unknown kind.
        let key = CacheKey(verbatim: "x")
        for _ in 0..<2 {
            try await place.engine.write(items.prefix(1) + [(key, Data()), (CacheKey("x"), Data())])
            try place.foreign("UPDATE data SET kind = 7 WHERE key LIKE 'x%'")
            await #expect(throws: StorageError.self) { try await place.engine.write(items + [(key, Data())]) }
            let before = try place.log().count
            // The triggers run again.
            try await place.engine.write(items[0].data, key: items[0].key)
            #expect(try place.log().count == before + 1)
            try await place.engine.write(items)
            #expect(try place.log().count == before + 301)
            try place.foreign("DELETE FROM data WHERE key LIKE 'x%'")
        }
    }

    @Test("Batches keep the log bounded, also when they remove more items than it keeps")
    func bounded() async throws {
        let place = try Place()
        _ = try await place.engine.fetchCursor()
        try await place.engine.write(items(100_300))
        let span = "max(number) - min(number) + 1 FROM emporium_changes_data"
        #expect(try place.count("SELECT count(*) FROM emporium_changes_data") == 100_000)
        #expect(try place.count("SELECT \(span)") == 100_000)
        let cursor = try await place.engine.fetchCursor()
        try await place.engine.removeAllData()
        #expect(try place.count("SELECT count(*) FROM emporium_changes_data WHERE change = 0") == 100_000)
        // Rows that would be too old immediately were not written.
        #expect(try place.count("SELECT max(number) FROM emporium_changes_data") == 200_300)
        #expect(try place.count("SELECT \(span)") == 100_000)
        #expect(try await place.engine.fetchChanges(since: cursor, excluding: nil) == nil)
    }
}

/// Operations on few keys, which conflict with each other.
private struct Choices {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func key() -> CacheKey {
        let number = Int.random(in: 0..<8, using: &generator)
        let raw = [
            "\(number)", "key \(number)", "KEY \(number)", "\(number)\u{0}emporium:url", "0\(number)", "a://\(number)",
            "a://\(number)\u{0}emporium:url",
        ]
        let chosen = raw.randomElement(using: &generator) ?? ""
        return [CacheKey(chosen), CacheKey(verbatim: chosen), CacheKey(rawValue: chosen, kind: .url)]
            .randomElement(using: &generator) ?? CacheKey(chosen)
    }

    mutating func operations() -> [StorageOperation] {
        let count = [1, 5, 200, 400].randomElement(using: &generator) ?? 1
        let removesAll = Int.random(in: 0..<3, using: &generator) == 0
        return (0..<count).map { index in
            if removesAll, Int.random(in: 0..<count, using: &generator) == 0 { return .removeAll }
            let key = key()
            return Int.random(in: 0..<3, using: &generator) == 0
                ? .remove(key: key) : .write(key: key, data: Data("\(index)".utf8))
        }
    }
}
