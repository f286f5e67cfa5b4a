#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct ChangeFeedTests {

    private func engine(_ schema: Schemas.Schema, _ options: PostgresDatabase.Options = .patient()) async throws
        -> PostgresStorageEngine
    {
        try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: options)
    }

    /// Reads all changes after a cursor.
    private func all(
        _ engine: PostgresStorageEngine,
        since cursor: StorageCursor,
        excluding origin: StorageOrigin? = nil
    ) async throws -> StorageDelta {
        try #require(try await engine.fetchAllChanges(since: cursor, excluding: origin))
    }

    @Test func `A follower receives each change after a snapshot once, with its origin`() async throws {
        let schema = try await Schemas.shared.schema()
        let (one, other) = (try await engine(schema), try await engine(schema))
        try await one.write(Data("1".utf8), key: CacheKey("a"))
        let snapshot = try await other.fetchSnapshot()
        #expect(snapshot.items.map(\.key) == [CacheKey("a")])

        let origin = StorageOrigin()
        let long = CacheKey(verbatim: String(repeating: "long", count: 1_000))
        try await StorageOrigin.$current.withValue(origin) {
            try await one.write([(CacheKey("b"), Data()), (CacheKey("a"), Data()), (long, Data())])
            try await one.remove(key: CacheKey("b"))
        }
        try await other.apply([.removeAll, .write(key: CacheKey("c"), data: Data())])
        let reported = try await all(other, since: snapshot.cursor)
        let expected: [(CacheKey, StorageChange.Kind)] = [
            (CacheKey("b"), .written), (CacheKey("a"), .written), (long, .written), (CacheKey("b"), .removed),
            (CacheKey("a"), .removed), (long, .removed), (CacheKey("c"), .written),
        ]
        #expect(reported.changes.map(\.key) == expected.map(\.0))
        #expect(reported.changes.map(\.kind) == expected.map(\.1))
        #expect(reported.changes.prefix(4).allSatisfy { $0.origin == origin })
        #expect(reported.changes.suffix(3).allSatisfy { $0.origin != origin && $0.origin != nil })
        #expect(try await all(one, since: reported.cursor).changes.isEmpty)

        try await StorageOrigin.$current.withValue(origin) { try await one.write(Data(), key: CacheKey("d")) }
        #expect(try await all(one, since: reported.cursor, excluding: origin).changes.isEmpty)
        #expect(try await all(one, since: reported.cursor).changes.map(\.key) == [CacheKey("d")])
    }

    @Test func `A large batch is reported in parts`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let cursor = try await engine.fetchCursor()
        let keys = (0..<2_500).map { CacheKey("item-\($0)") }
        try await engine.write(keys.map { ($0, Data()) })
        for key in keys.prefix(250) { try await engine.remove(key: key) }
        let first = try #require(try await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(!first.isComplete)
        // A change that is committed between the parts is reported after them.
        try await engine.write(Data(), key: CacheKey("late"))
        let rest = try await all(engine, since: first.cursor)
        let reported = first.changes + rest.changes
        #expect(reported.map(\.key) == keys + keys.prefix(250) + [CacheKey("late")])
    }

    /// The control is a reader that goes by the row numbers of the log. It must skip a change, otherwise the test
    /// proves nothing.
    @Test func `A follower skips no change when transactions commit in another order than their row numbers`()
        async throws
    {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let changes = Locked<[CacheKey: Int]>([:])
        var cursor = try await engine.fetchCursor()
        let follower = StorageOrigin()

        // The first transaction has taken its number and stays open until the second one is committed.
        let held = try await HeldTransaction(schema)
        try await held.write("first", collection: engine.number)
        var naive = NaiveReader(schema)
        try await engine.write(Data(), key: CacheKey("second"))
        for round in 0..<2 {
            if round == 1 { try await held.commit() }
            let reported = try await all(engine, since: cursor, excluding: follower)
            cursor = reported.cursor
            for change in reported.changes { changes.withLock { $0[change.key, default: 0] += 1 } }
            try await naive.read()
        }
        #expect(changes.withLock { $0 } == [CacheKey("first"): 1, CacheKey("second"): 1])
        #expect(naive.keys == ["second"], "The control must skip the late commit.")
    }

    @Test func `Changes of concurrent transactions that stay open are each reported exactly once`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let start = try await engine.fetchCursor()
        let number = engine.number
        let isWriting = Locked(true)
        let reported = Locked<[CacheKey: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var cursor = start
                var isLast = false
                while !isLast {
                    isLast = !isWriting.withLock { $0 }
                    let delta = try await all(engine, since: cursor)
                    cursor = delta.cursor
                    for change in delta.changes { reported.withLock { $0[change.key, default: 0] += 1 } }
                }
            }
            group.addTask {
                defer { isWriting.withLock { $0 = false } }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for writer in 0..<4 {
                        writers.addTask {
                            for round in 0..<10 {
                                let held = try await HeldTransaction(schema)
                                try await held.write("\(writer)-\(round)", collection: number)
                                for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
                                try await held.commit()
                            }
                        }
                    }
                    try await writers.waitForAll()
                }
            }
            try await group.waitForAll()
        }
        let expected = (0..<4).flatMap { writer in (0..<10).map { CacheKey("\(writer)-\($0)") } }
        #expect(reported.withLock { $0 } == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
    }

    @Test func `A long transaction of another program does not delay later changes`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let cursor = try await engine.fetchCursor()
        let held = try await HeldTransaction(schema)
        try await held.write("held", collection: engine.number)
        try await engine.write(Data(), key: CacheKey("a"))
        let first = try await all(engine, since: cursor)
        #expect(first.changes.map(\.key) == [CacheKey("a")])
        try await engine.write(Data(), key: CacheKey("b"))
        let second = try await all(engine, since: first.cursor)
        #expect(second.changes.map(\.key) == [CacheKey("b")])
        try await held.commit()
        #expect(try await all(engine, since: second.cursor).changes.map(\.key) == [CacheKey("held")])
    }

    @Test func `The log is bounded, and a cursor from before its start requires a snapshot`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema, .patient(changeLogLimit: 10))
        let old = try await engine.fetchCursor()
        for number in 1...50 {
            try await engine.write(Data(), key: CacheKey("\(number)"))
            // The engine also trims in the background.
            if number.isMultiple(of: 10) { try await engine.database.trimmer.trim() }
        }
        let rows = try #require(Int(try await schema.sql("SELECT count(*) FROM emporium_changes")))
        #expect((10...49).contains(rows))
        #expect(try await engine.fetchChanges(since: old, excluding: nil) == nil)

        // An open transaction appears to be older than the log.
        let held = try await HeldTransaction(schema)
        try await held.write("held", collection: engine.number)
        for number in 0..<30 { try await engine.write(Data(), key: CacheKey("\(number)")) }
        let new = try await engine.fetchCursor()
        try await engine.database.trimmer.trim()
        #expect(try await engine.fetchChanges(since: old, excluding: nil) == nil)
        try await engine.write(Data(), key: CacheKey("new"))
        #expect(try await all(engine, since: new).changes.map(\.key) == [CacheKey("new")])
        try await held.commit()
        #expect(try await all(engine, since: new).changes.map(\.key) == [CacheKey("held"), CacheKey("new")])
    }

    @Test func `The engine trims the log in the background`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema, .patient(changeLogLimit: 10))
        try await engine.write(Data(), key: CacheKey("first"))
        try await waitUntil("the log was trimmed") {
            try await engine.write(Data(), key: CacheKey("again"))
            return try await schema.sql("SELECT value FROM emporium_meta WHERE name = 'trimmed'") != "1:1:"
        }
    }

    @Test(arguments: [
        "", "x", ";", ";;", "x;;1:2:", "{history};", "{history};1:2:", "{history};;", "{history};;1:2",
        "{history};;2:1:",
        "{history};;1:5:7", "{history};;1:9:5,5", "{history};x;1000:1000:", "{history};x';1000:1000:",
        "{history};;1:2:';DROP TABLE emporium_items;--", "{history};;1:2:;1:2:", "{history};;1:2:;1:2:;x",
        "0/00000001;;1000:1000:", "{history};;9000000000000000000:9000000000000000000:",
        "{history};;18446744073709551616:18446744073709551617:", "{history};;10:20:19,11",
        "{history};00000000-0000-0000-0000-000000000000;1000:1000:",
    ])
    func `A cursor without a valid history requires a snapshot`(text: String) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let history = try #require(try await engine.fetchCursor().rawValue.split(separator: ";").first)
        // The log is trimmed beyond the snapshots of all these cursors.
        try await schema.sql("UPDATE emporium_meta SET value = '1000:1000:' WHERE name = 'trimmed'")
        let cursor = StorageCursor(rawValue: text.replacingOccurrences(of: "{history}", with: history))
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
    }

    @Test func `A feed follows another engine, also after a lost connection`() async throws {
        let schema = try await Schemas.shared.schema()
        // A unique name, as other tests run concurrently.
        let name = "feed_\(schema.name)"
        let reader = try await PostgresStorageEngine(
            connecting: schema.url + "&application_name=\(name)", collection: "notes", options: .patient())
        let writer = try await engine(schema)
        var feed = reader.changes().makeAsyncIterator()
        guard case .snapshot(let snapshot) = try await feed.next() else { return _ = Issue.record("No snapshot") }
        #expect(snapshot.items.isEmpty)
        for round in 0..<6 {
            if round == 3 {
                let listening =
                    "FROM pg_stat_activity WHERE application_name = '\(name)' AND query LIKE '%pg_snapshot%'"
                try await waitUntil("the listener polled") {
                    try await schema.sql("SELECT count(*) > 0 \(listening)") == "t"
                }
                let ended = try await schema.sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '\(name)'")
                #expect((Int(ended) ?? 0) >= 1)
            }
            try await writer.write(Data(), key: CacheKey("\(round)"))
            guard case .changes(let delta) = try await feed.next() else { return _ = Issue.record("No changes") }
            #expect(delta.changes.map(\.key) == [CacheKey("\(round)")])
        }
        reader.database.disconnect()
        do {
            #expect(try await feed.next() == nil)
        } catch let error as StorageError {
            // An earlier signal caused a read.
            #expect(error.code == .closed)
        }
    }

    @Test func `Changes in several parts and their items are read as one`() async throws {
        let engine = try await engine(try await Schemas.shared.schema())
        let mine = StorageOrigin()
        let cursor = try await engine.fetchCursor()
        for number in 0..<210 {
            try await StorageOrigin.$current.withValue(mine) {
                try await engine.write(Data(), key: CacheKey("own \(number)"))
            }
        }
        #expect(try await engine.fetchChanges(since: cursor, excluding: mine)?.isComplete == false)
        let own = try #require(await engine.fetchChangedItems(since: cursor, excluding: mine))
        #expect(own.changes.isEmpty && own.items.isEmpty)
        try await engine.apply([
            .write(key: CacheKey("a"), data: Data([1])), .write(key: CacheKey("b"), data: Data()),
            .remove(key: CacheKey("b")),
        ])
        let delta = try #require(await engine.fetchChangedItems(since: cursor, excluding: mine))
        let items = delta.items
        #expect(delta.changes.count == 213 && delta.changes[209].key == CacheKey("own 209"))
        #expect(items.map(\.key) == [CacheKey("a")] && items.map(\.data) == [Data([1])])
        #expect(try await engine.fetchChanges(since: delta.cursor, excluding: nil)?.changes == [])
    }

    /// Commits a change after a change with a higher row number was reported, and announces it to no listener.
    private func expectLateCommitIsReported(to reader: PostgresStorageEngine, in schema: Schemas.Schema) async throws {
        var feed = reader.changes().makeAsyncIterator()
        _ = try await feed.next()
        // Its row number is lower than that of a change that is committed before.
        let held = try await HeldTransaction(schema)
        try await held.write("silent", collection: reader.number)
        try await reader.write(Data(), key: CacheKey("reported"))
        for name in ["reported", "silent"] {
            guard case .changes(let delta) = try await feed.next() else { return _ = Issue.record("No changes") }
            #expect(delta.changes.map(\.key) == [CacheKey(name)])
            if name == "reported" { try await held.commit() }
        }
    }

    @Test func `A follower finds an unannounced change, also among announcements of other changes`() async throws {
        let schema = try await Schemas.shared.schema()
        let reader = try await engine(schema)
        let noisy = try await reader.collection(named: "noisy")
        let isOver = Locked(false)
        async let noise: Void = {
            while !isOver.withLock({ $0 }) { try await noisy.write(Data(), key: CacheKey("noise")) }
        }()
        try await expectLateCommitIsReported(to: reader, in: schema)
        isOver.withLock { $0 = true }
        try await noise
    }

    @Test func `A follower finds a late commit without any other change`() async throws {
        let schema = try await Schemas.shared.schema()
        try await expectLateCommitIsReported(to: try await engine(schema), in: schema)
    }

    @Test func `A batch is reported step by step, without the steps that change nothing`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        for name in ["before", "again"] { try await engine.write(Data(), key: CacheKey(name)) }
        let cursor = try await engine.fetchCursor()
        try await engine.remove(key: CacheKey("absent"))
        try await engine.apply([
            .write(key: CacheKey("d"), data: Data()), .remove(key: CacheKey("d")),
            .write(key: CacheKey("d"), data: Data()), .remove(key: CacheKey("absent")),
            .write(key: CacheKey("c"), data: Data()), .remove(key: CacheKey("before")),
            .remove(key: CacheKey("again")), .write(key: CacheKey("again"), data: Data()),
        ])
        let reported = try await all(engine, since: cursor)
        let expected = ["+d", "-d", "+d", "+c", "-before", "-again", "+again"]
        #expect(reported.changes.map { ($0.kind == .written ? "+" : "-") + $0.key.rawValue } == expected)
        // The log has each request, also one without changes.
        #expect(try await schema.sql("SELECT count(DISTINCT request) FROM emporium_changes") == "4")
    }

    @Test func `Removing all items reports each key, in the order of the items`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let keys = (0..<2_345).map { CacheKey("\($0)") }
        try await engine.write(keys.map { ($0, Data()) })
        let cursor = try await engine.fetchCursor()
        try await engine.apply([.removeAll, .write(key: CacheKey("new"), data: Data())])
        try await engine.removeAllData()
        try await engine.removeAllData()
        let reported = try await all(engine, since: cursor)
        #expect(reported.changes.map(\.key) == keys + [CacheKey("new"), CacheKey("new")])
        #expect(try await schema.sql("SELECT max(cardinality(removed)) FROM emporium_changes") == "1000")
    }

    @Test func `A removal before the commit of an item is not reported after it`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let cursor = try await engine.fetchCursor()
        let held = try await HeldTransaction(schema)
        try await held.write("a", collection: engine.number)
        try await engine.remove(key: CacheKey("a"))
        try await held.commit()
        let reported = try await all(engine, since: cursor)
        #expect(reported.changes.map(\.kind) == [.written])
    }

    @Test func `After a failover, a follower requires a snapshot`() async throws {
        let primary = try await PostgresServer.launch()
        let standby = try await primary.addStandby(isSynchronous: true)
        let url = PostgresServer.url(of: [primary, standby])
        let engine = try await PostgresStorageEngine(connecting: url, collection: "notes", options: .patient())
        let cursor = try await engine.fetchCursor()
        try await engine.write(Data("kept".utf8), key: CacheKey("a"))
        try await primary.kill()
        try await standby.promote()
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        let snapshot = try await engine.fetchSnapshot()
        #expect(snapshot.items.map(\.data) == [Data("kept".utf8)])
        try await engine.write(Data(), key: CacheKey("b"))
        #expect(try await all(engine, since: snapshot.cursor).changes.map(\.key) == [CacheKey("b")])
    }
}

/// A reader that reads the log from the last row number on.
private struct NaiveReader: Sendable {
    private let schema: Schemas.Schema
    private var last = 0
    private(set) var keys: [String] = []

    init(_ schema: Schemas.Schema) {
        self.schema = schema
    }

    mutating func read() async throws {
        let rows = try await schema.sql(
            """
            SELECT id, convert_from(substr(written[1], 2), 'UTF8') FROM emporium_changes WHERE id > \(last) ORDER BY id
            """
        )
        for row in rows.split(separator: "\n") {
            let fields = row.split(separator: "|")
            last = Int(fields[0]) ?? last
            keys.append(String(fields[1]))
        }
    }
}
#endif
