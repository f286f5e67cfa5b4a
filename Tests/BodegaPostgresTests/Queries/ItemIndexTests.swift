#if Postgres
import Bodega
import BodegaTesting
import CPostgres
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Indexes in the database: how they are built, used and removed.
@Suite(.serialized)
struct ItemIndexTests {

    let index = StorageIndex("a")

    func engine(_ schema: Schemas.Schema, partitions: Int = 3) async throws -> PostgresStorageEngine {
        try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes",
            options: .patient(maximumConnections: 2, partitions: partitions))
    }

    func session(_ url: String) async throws -> Session {
        try await SessionPool(target: ConnectionTarget(url), limit: 1, connectTimeout: 60).makeSession(
            until: .after(60))
    }

    func run(_ sql: String, _ session: Session) async throws {
        _ = try await session.run(Command(Statement(sql)), patience: 60)
    }

    func items(_ count: Int) -> [(key: CacheKey, data: Data)] {
        (0..<count).map { (CacheKey("\($0)"), Data(#"{"a":\#($0 % 97),"b":"x"}"#.utf8)) }
    }

    /// The number of indexes of this package, with those of partitions, in some state.
    func count(_ schema: Schemas.Schema, _ condition: String = "true") async throws -> Int? {
        Int(
            try await schema.sql(
                """
                SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
                WHERE c.relnamespace = '\(schema.name)'::regnamespace AND c.relname LIKE 'emporium\\_index%'
                    AND (\(condition))
                """))
    }

    // MARK: Use

    @Test func `The index is used for ranges in both directions, for ties and for counts`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let other = try await engine.collection(named: "other")
        try await engine.write(items(10))
        try await engine.createIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        #expect(try await other.fetchIndexes() == [])
        let name = ItemIndex(index: index, collection: engine.number).name
        let session = try await session(schema.url)

        func plan(_ command: Command, _ settings: Command) async throws -> String {
            var command = command
            command.statement = Statement("EXPLAIN (COSTS off) " + command.statement.sql)
            let answers = try await session.run([.beginSnapshot, settings, command, .commit], patience: 60)
            return try (0..<answers[2].count).map { try answers[2].text($0, 0) }.joined(separator: "\n")
        }

        func statement(_ change: (inout ScanStatement) -> Void) throws -> ScanStatement {
            var statement = try ScanStatement(collection: engine.number, index: index)
            change(&statement)
            return statement
        }

        let range = try statement { $0.require(from: .before(.integer(5)), to: .after(.integer(60))) }
        let next = try statement {
            $0.require(after: [SortKeyBytes.bytes(of: .integer(5))], 1)
            $0.require(from: .start, to: .before(.none))
        }
        let tie = try statement {
            $0.require(SortKeyBytes.none)
            $0.require(after: 1)
        }
        let irregular = try statement { $0.require(SortKeyBytes.irregular) }
        let ordered = [
            range.rows(.ascending, limit: 64), range.rows(.descending, limit: 64), next.rows(.ascending, limit: 64),
            tie.rows(.insertion, limit: 64), irregular.rows(.insertion, limit: 64),
        ]
        // With a few items, with more than the statistics have, and with current statistics.
        for step in 0..<3 {
            if step > 0 { try await engine.write(items(2_000)) }
            if step > 0 { try await other.write(items(2_000)) }
            if step != 1 { try await schema.sql("ANALYZE emporium_items") }
            for command in ordered {
                let plan = try await plan(command, ScanStatement.useIndex)
                for partition in 0..<3 { #expect(plan.contains("using \(name)_\(partition) "), "\(plan)") }
                #expect(!plan.contains(/Filter|Seq Scan|Sort(?! Key)/), "\(plan)")
            }
            for command in [range.count(upTo: 100), irregular.count(upTo: 100)] {
                let plan = try await plan(command, ScanStatement.useIndex)
                #expect(plan.contains("using \(name)_0 ") && !plan.contains("Filter"), "\(plan)")
            }
            let plan = try await plan(range.count(upTo: .max), ScanStatement.useIndexInAnyOrder)
            #expect(plan.contains(" \(name)_0") && !plan.contains("Filter"), "\(plan)")
        }
    }

    @Test func `Any bytes can be written to a collection with indexes`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        try await engine.createIndex(index)
        try await engine.createIndex(StorageIndex("a.b\\.c", isForText: false))
        var random = SeededGenerator(seed: Seed.current)
        var items = ["", "null", "[", "{\"a\":", "\u{0}", #"{"a":"\ud800"}"#, #"{"a":1e9999}"#].map { Data($0.utf8) }
        items += (0..<300).map { size in Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }) }
        items.append(Data(repeating: 0x5B, count: 1_000_000))
        items.append(Data(#"{"a":"\#(String(repeating: "é", count: 2_000_000))"}"#.utf8))
        items.append(
            Data(#"{"a":"\#((0..<900).map { _ in "\(UInt8.random(in: 0...9, using: &random))" }.joined())"}"#.utf8))
        for (number, data) in items.prefix(20).enumerated() { try await engine.write(data, key: CacheKey("\(number)")) }
        try await engine.write(items.enumerated().map { (key: CacheKey("\($0)"), data: $1) })
        #expect(try await engine.fetchAllData() == items)
        #expect(try await engine.count(.irregular(index), upTo: .max) > 300)
    }

    // MARK: Building

    @Test func `Programs that create an index concurrently create it once, beside a writer`() async throws {
        let schema = try await Schemas.shared.schema()
        var engines: [PostgresStorageEngine] = []
        for _ in 0..<3 { engines.append(try await engine(schema)) }
        let items = items(500)
        try await engines[0].write(items)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines {
                group.addTask { [index] in try await engine.createIndex(index) }
                group.addTask { try await engine.createIndex(StorageIndex("b", isForText: false)) }
            }
            group.addTask { [engine = engines[2]] in
                for (key, data) in items { try await engine.write(data, key: key) }
            }
            try await group.waitForAll()
        }
        #expect(try await engines[1].fetchIndexes() == [index, StorageIndex("b", isForText: false)])
        #expect(try await count(schema) == 8)
        #expect(try await count(schema, "NOT indisvalid") == 0)
        #expect(
            try await engines[1].count(
                .range(index, from: .start, to: .before(.none), isDescending: false, after: nil), upTo: .max)
                == 500)
        try await engines[1].removeIndex(index)
        try await engines[1].removeIndex(index)
        #expect(try await engines[0].fetchIndexes() == [StorageIndex("b", isForText: false)])
        #expect(try await count(schema) == 4)
    }

    /// The build waits for an older transaction when it is stopped.
    @Test(arguments: [true, false])
    func `A build that was stopped is continued`(isCancelled: Bool) async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let engine = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 2))
        try await engine.write(items(100))
        let transaction = try await session(database.url)
        try await run("BEGIN", transaction)
        try await run("UPDATE emporium_items_1 SET data = data", transaction)
        let task = Task { [index] in try await engine.createIndex(index) }
        let building = """
            SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONC%' AND wait_event_type = 'Lock'
            """
        try await waitUntil("the build waited") { try await database.sql(building) != "" }
        if isCancelled {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            try await database.sql("SELECT pg_terminate_backend(pid) FROM (\(building)) AS b")
        }
        if isCancelled { try await waitUntil("the build ended") { try await database.sql(building) == "" } }
        try await run("COMMIT", transaction)
        if !isCancelled { try await task.value }
        let invalid = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
        if isCancelled { #expect(try await database.sql(invalid) != "0") }
        if isCancelled { #expect(try await engine.fetchIndexes() == []) }
        try await engine.createIndex(index)
        #expect(try await database.sql(invalid) == "0")
        #expect(try await engine.fetchIndexes() == [index])
        #expect(
            try await engine.count(
                .range(index, from: .start, to: .before(.none), isDescending: true, after: nil), upTo: .max) == 100)
        engine.database.disconnect()
    }

    @Test func `A build reports how many items were read, also within a partition`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema, partitions: 2)
        try await engine.write(items(20_000))
        let reports = Locked<[Int]>([])
        let progress = IndexBuildProgress(
            pool: engine.database.pool, clock: ContinuousClock(),
            report: { count, total in
                #expect(total == 20_000)
                reports.withLock { $0.append(count) }
            }, total: 20_000, interval: .milliseconds(1))
        let builder = IndexBuilder(
            index: ItemIndex(index: index, collection: engine.number), pool: engine.database.pool,
            retries: engine.database.retries, timeout: 60, progress: progress)
        // On a busy machine, a build can end before it is looked at.
        var areSeen = (first: false, second: false)
        for _ in 0..<50 where !areSeen.first || !areSeen.second {
            try await engine.removeIndex(index)
            reports.withLock { $0 = [] }
            try await builder.create()
            let found = reports.withLock { $0 }
            #expect(found == found.sorted())
            #expect((found.first, found.last) == (0, 20_000))
            // The first partition ends near the middle.
            if found.contains(where: (1_000..<8_000).contains) { areSeen.first = true }
            if found.contains(where: (12_000..<19_000).contains) { areSeen.second = true }
        }
        #expect(areSeen == (true, true))
        reports.withLock { $0 = [] }
        try await engine.createIndex(index) { count, _ in reports.withLock { $0.append(count) } }
        #expect(reports.withLock { $0 } == [20_000])
        #expect(try await engine.fetchIndexes() == [index])
    }

    @Test func `An incomplete index is not used, and is removed`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        try await engine.createIndex(index)
        let name = ItemIndex(index: index, collection: engine.number).name
        // As after a build that ended before the second partition: the index of the first is not attached.
        let columns = try await schema.sql("SELECT pg_get_indexdef('\(name)_0'::regclass)").split(separator: "btree ")[
            1]
        try await schema.sql(
            """
            DROP INDEX \(name); CREATE INDEX \(name) ON ONLY emporium_items \(columns);
            COMMENT ON INDEX \(name) IS 'path: a'; CREATE INDEX \(name)_0 ON emporium_items_0 \(columns);
            """)
        #expect(try await engine.fetchIndexes() == [])
        #expect(try await count(schema) == 2)
        try await engine.removeIndex(index)
        #expect(try await count(schema) == 0)
        try await engine.createIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        // One of another version goes with it.
        let old = name.replacing("index_1_", with: "index_0_")
        try await schema.sql("CREATE INDEX \(old) ON emporium_items (position)")
        try await engine.removeIndex(index)
        #expect(try await count(schema) == 0)
    }

    @Test func `Writers go on while an index waits for the lock of the table`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let transaction = try await session(schema.url)
        try await run("BEGIN", transaction)
        try await run("UPDATE emporium_items SET data = data", transaction)
        let task = Task { [index] in try await engine.createIndex(index) }
        let lock =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(schema.name).emporium_items'::regclass"
        try await waitUntil("the index waited") { try await schema.sql(lock) == "1" }
        try await engine.write(Data(#"{"a":1}"#.utf8), key: CacheKey("1"))
        #expect(try await engine.fetchIndexes() == [])
        try await run("COMMIT", transaction)
        try await task.value
        #expect(try await engine.fetchIndexes() == [index])
    }

    @Test func `A program that waits for another one stops at its time limit, or when it is cancelled`() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let engine = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 1))
        let other = try await session(database.url)
        try await run(
            "SELECT pg_advisory_lock(\(IndexBuilder.lockNumber), 'emporium_items'::regclass::oid::integer)", other)
        let task = Task { [index] in try await engine.createIndex(index) }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory_lock%'
            """
        try await waitUntil("the program waited") { try await database.sql(waiting) == "1" }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let item = ItemIndex(index: index, collection: engine.number)
        let builder = IndexBuilder(
            index: item, pool: engine.database.pool, retries: engine.database.retries, timeout: 2)
        let error = await #expect(throws: StorageError.self) { try await builder.create() }
        #expect(error?.code == .locked)
        try await run("SELECT pg_advisory_unlock_all()", other)
        try await engine.createIndex(index)
        #expect(try await engine.fetchIndexes() == [index])
        engine.database.disconnect()
    }

    @Test func `A dump has the indexes, and a path can contain any text`() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let names = [
            "it's", "a.b", #"a\\b"#, "$emporium$", "{a,\"b\"}\n", "é", "e\u{301}", "", "'\u{301}", "\\\u{301}'",
            "\u{301}", ".\u{301}", "\"",
        ]
        let engine = try await PostgresStorageEngine(
            connecting: database.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 1))
        let members = try names.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + ":1" }
        try await engine.write(Data("{\(members.joined(separator: ","))}".utf8), key: CacheKey("x"))
        let indexes = Set(names.map { StorageIndex(StorageIndex.Member.path(of: [$0]), isForText: false) })
        for index in indexes { try await engine.createIndex(index) }
        let copy = try await server.makeDatabase()
        try await copy.sql(try await server.dump(database.name))
        let restored = try await PostgresStorageEngine(
            connecting: copy.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 1))
        for engine in [engine, restored] {
            #expect(try await engine.fetchIndexes() == indexes && indexes.count == names.count)
            for index in indexes {
                let scan = StorageScan.range(
                    index, from: .before(.integer(1)), to: .after(.integer(1)), isDescending: false, after: nil)
                #expect(try await engine.count(scan, upTo: .max) == 1, "\(index)")
            }
            engine.database.disconnect()
        }
        let error = await #expect(throws: StorageError.self) { try await engine.createIndex(StorageIndex("\0")) }
        #expect(error != nil)
    }

    // MARK: Rights

    @Test func `A user who does not own the table gets an error that names the right, and can use an index`()
        async throws
    {
        let schema = try await Schemas.shared.schema()
        let owner = try await engine(schema)
        try await owner.write(items(10))
        let writer = try await PostgresStorageEngine(
            connecting: schema.urlOfWriter(), collection: "notes", options: .patient(maximumConnections: 2))
        let error = await #expect(throws: StorageError.self) { try await writer.createIndex(index) }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("owner of the table emporium_items") == true)
        #expect(try await count(schema) == 0)
        try await writer.removeIndex(index)
        // Without an index there is no function.
        let missing = await #expect(throws: StorageError.self) { try await writer.count(.irregular(index), upTo: 1) }
        #expect(missing?.code == .invalidArgument)

        // The function is not public by default.
        try await schema.sql("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
        try await owner.createIndex(index)
        try await schema.sql("ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC")
        try await writer.createIndex(index)
        try await writer.write(Data(#"{"a":1}"#.utf8), key: CacheKey("new"))
        #expect(
            try await writer.count(
                .range(index, from: .before(.integer(1)), to: .after(.integer(1)), isDescending: false, after: nil),
                upTo: .max) == 2)
        let removal = await #expect(throws: StorageError.self) { try await writer.removeIndex(index) }
        #expect(removal?.code == .permissionDenied)
        #expect(try await writer.fetchIndexes() == [index])
    }

    @Test func `A function of another user, which that user could replace, is not used`() async throws {
        let schema = try await Schemas.shared.schema()
        let owner = try await engine(schema)
        let url = try await schema.urlOfWriter()
        try await schema.sql("GRANT CREATE ON SCHEMA \(schema.name) TO writer")
        let writer = try await session(url)
        for statement in SortKeyFunction.definition(inSchema: schema.name) { try await run(statement, writer) }
        // The owner of these tables is a superuser, who may replace it; the function's owner stays the writer.
        try await schema.sql("CREATE ROLE keeper_\(schema.name) LOGIN PASSWORD 'pa55'")
        try await schema.sql(
            """
            GRANT ALL ON SCHEMA \(schema.name) TO keeper_\(schema.name);
            GRANT ALL ON ALL TABLES IN SCHEMA \(schema.name) TO keeper_\(schema.name);
            ALTER TABLE emporium_items OWNER TO keeper_\(schema.name);
            """)
        let keeper = try await PostgresStorageEngine(
            connecting: url.replacing("//writer:", with: "//keeper_\(schema.name):"), collection: "notes",
            options: .patient(maximumConnections: 2))
        let error = await #expect(throws: StorageError.self) { try await keeper.createIndex(index) }
        #expect(error?.code == .permissionDenied)
        #expect(try await owner.fetchIndexes() == [])
    }
}
#endif
