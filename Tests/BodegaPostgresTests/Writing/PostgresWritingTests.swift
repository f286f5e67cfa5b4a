#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct PostgresWritingTests {

    @Test func `A value of 50 megabytes is read as it was written, alone and in a batch`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "files", options: .patient())
        let value = Data((0..<(50 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) })
        try await engine.write(value, key: CacheKey("one"))
        #expect(try await engine.fetch(key: CacheKey("one")) == value)
        try await engine.write([(CacheKey("small"), Data("1".utf8)), (CacheKey("large"), value)])
        let all = try await engine.fetchAll()
        #expect(all.map(\.key) == [CacheKey("one"), CacheKey("small"), CacheKey("large")])
        #expect(all[2].data == value)
    }

    /// `EMPORIUM_LARGE_ITEMS=1` uses the largest item that is supported.
    @Test(.disabled(if: ThreadSanitizer.isThere || !FileManager.default.fileExists(atPath: "/proc/self/clear_refs")))
    func `A large item is written and read in at most 16 mebibytes of memory`() async throws {
        let schema = try await Schemas.shared.schema()
        let count = TestSizes.haveLargestItems ? 499_999_000 : 40_000_000
        // One arena, because glibc keeps what threads have released in each, so that its part depends on the load.
        let child = try Child(
            "stream-large", "postgres", schema.url, "\(count)", environment: ["MALLOC_ARENA_MAX": "1"])
        let growth = try #require(Int(await child.lines().last ?? ""))
        print("memory for an item of \(count) bytes in PostgreSQL: \(growth) bytes")
        #expect(growth <= 16 << 20)
    }

    @Test func `A stream that is too large is rejected before it is sent`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "files", options: .patient())
        let folder = TemporaryFolder()
        let file = folder.file("sparse")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        #expect(truncate(file.path, 500_000_001) == 0)
        let stream = try StorageByteStream(contentsOf: file)
        let key = CacheKey("a")
        let error = await #expect(throws: StorageError.self) { try await engine.write(stream: stream, key: key) }
        #expect(error?.code == .tooLarge)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test func `An item that is too large is rejected before it is sent`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "files", options: .patient())
        let value = Data(count: 500_000_001)
        let error = await #expect(throws: StorageError.self) { try await engine.write(value, key: CacheKey("a")) }
        #expect(error?.code == .tooLarge)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test func `Keys can have any character`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let scalars = (0...0x2FF).compactMap(Unicode.Scalar.init).map { String(Character($0)) }
        let texts = scalars + ["\u{10FFFF}", "\u{0}\u{0}", String(repeating: "\u{0}", count: 3_000)]
        let keys = texts.flatMap { [CacheKey($0), CacheKey(verbatim: $0), CacheKey(rawValue: $0, kind: .url)] }
        try await engine.write(keys.enumerated().map { ($0.element, Data("\($0.offset)".utf8)) })
        #expect(try await engine.fetchKeys() == keys)
        #expect(try await engine.fetch(keys: keys.reversed()).map(\.key) == keys.reversed())
        try await engine.remove(keys: keys)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test(arguments: [100, 5_000])
    func `A bulk write of existing and new items keeps the places of existing ones`(count: Int) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let items = (0..<count).map { (key: CacheKey("\($0)"), data: Data("first".utf8)) }
        try await engine.write(items.suffix(1))
        try await engine.write(items + items.prefix(1))
        #expect(try await engine.fetchKeys() == [items[count - 1].key] + items.dropLast().map(\.key))
        try await engine.write(items.reversed().map { ($0.key, Data("second".utf8)) })
        #expect(try await engine.fetchKeys() == [items[count - 1].key] + items.dropLast().map(\.key))
        #expect(try await engine.fetchAllData() == Array(repeating: Data("second".utf8), count: count))
    }

    /// Batches on the same keys in opposite orders deadlock unless rows are locked in one order, and batches that
    /// remove are repeated. Each batch leaves all keys with its own value, or none.
    @Test func `Conflicting batches are all applied, in some serial order`() async throws {
        let schema = try await Schemas.shared.schema()
        let keys = (0..<20).map { CacheKey("\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let engine = try await PostgresStorageEngine(
                        connecting: schema.url, collection: "notes", options: .patient())
                    for round in 0..<15 {
                        let value = Data("\(writer) \(round)".utf8)
                        let writes = keys.shuffled().map { StorageOperation.write(key: $0, data: value) }
                        switch round % 3 {
                        case 0: try await engine.apply(writes)
                        case 1: try await engine.apply(keys.shuffled().map { .remove(key: $0) })
                        default: try await engine.apply([.removeAll] + writes)
                        }
                        let values = try await engine.fetch(keys: keys).map(\.data)
                        #expect(values.isEmpty || values.count == keys.count)
                        #expect(Set(values).count <= 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        let deadlocks = try await schema.sql(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        print("deadlocks in the database of the tests so far:", deadlocks)
    }

    /// The connection ends after the server has committed and before the engine receives the result. Another engine
    /// writes in between.
    @Test(arguments: [1, 2, 3_000])
    func `A write with a lost result is not applied twice`(count: Int) async throws {
        let schema = try await Schemas.shared.schema()
        let other = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let server = try await PostgresServer.shared()
        let proxy = try FaultyProxy(to: server.port)
        let url = server.url(through: proxy, schema.url)
        let engine = try await PostgresStorageEngine(
            connecting: url, collection: "notes", options: .patient(maximumConnections: 2))
        let items = (0..<count).map { (key: CacheKey("\($0)"), data: Data("mine".utf8)) }
        proxy.loseNextCommit {
            // The write is committed, and its result has not arrived.
            try await waitUntil("the items were there") { try await other.fetchCount() == count }
            try await other.write(Data("of another".utf8), key: CacheKey("0"))
        }
        if count == 1 {
            try await engine.write(items[0].data, key: items[0].key)
        } else {
            try await engine.write(items)
        }
        #expect(proxy.hasLostAnswer)
        #expect(try await other.fetch(key: CacheKey("0")) == Data("of another".utf8))
        #expect(try await other.fetchCount() == count)
        #expect(
            try await schema.sql(
                "SELECT count(*) FROM emporium_changes WHERE written <> '{}' AND part = 0") == "2")
    }

    /// Both read the items before either has written.
    @Test(arguments: [true, false])
    func `Batches that each remove what the other writes have the effect of some serial order`(removesAll: Bool)
        async throws
    {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        let lock = try await SessionPool(target: ConnectionTarget(schema.url), limit: 1, connectTimeout: 60)
            .makeSession(until: .after(60))
        // Both batches write to this table before they commit.
        _ = try await lock.run(
            ["BEGIN", "LOCK TABLE emporium_changes IN SHARE MODE"].map { Command(Statement($0)) }, patience: 60)
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(schema.name).emporium_changes'::regclass
            """
        async let first: Void = engine.apply([removesAll ? .removeAll : .remove(key: b), .write(key: a, data: Data())])
        async let second: Void = engine.apply([removesAll ? .removeAll : .remove(key: a), .write(key: b, data: Data())])
        try await waitUntil("both waited") { try await schema.sql(waiting) == "2" }
        _ = try await lock.run(Command(Statement("COMMIT")), patience: 60)
        _ = try await (first, second)
        #expect(try await engine.fetchCount() == 1)
    }

    @Test func `Removing all items succeeds under constant writes`() async throws {
        let schema = try await Schemas.shared.schema()
        let keys = (0..<200).map { CacheKey("\($0)") }
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let engine = try await PostgresStorageEngine(
                        connecting: schema.url, collection: "notes", options: .patient())
                    while !isOver.withLock({ $0 }) {
                        try await engine.write(keys.shuffled().prefix(20).map { ($0, Data(count: 100)) })
                    }
                }
            }
            group.addTask {
                defer { isOver.withLock { $0 = true } }
                let engine = try await PostgresStorageEngine(
                    connecting: schema.url, collection: "notes", options: .patient())
                for _ in 0..<10 { try await engine.removeAllData() }
            }
            try await group.waitForAll()
        }
    }

    @Test func `Keys beyond the limit of a statement are read and removed in parts`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let keys = (0..<45_000).map { CacheKey("\($0)") }
        try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        let asked = keys.reversed() + [CacheKey("absent")] + keys.prefix(2)
        let found = try await engine.fetch(keys: asked)
        #expect(found.map(\.key) == keys.reversed() + keys.prefix(2))
        #expect(found.allSatisfy { $0.data == Data($0.key.rawValue.utf8) })
        let cursor = try await engine.fetchCursor()
        try await engine.remove(keys: [CacheKey("absent")] + keys.dropFirst())
        #expect(try await engine.fetchKeys() == keys.prefix(1).map { $0 })
        let reported = try #require(try await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(reported.changes.map(\.key) == Array(keys.dropFirst()))
        #expect(reported.changes.allSatisfy { $0.kind == .removed })
    }

    @Test func `A NaN date is stored as 1970`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let never = Date(timeIntervalSince1970: .nan)
        let item = StorageItem(
            key: CacheKey("a"), data: Data(), dates: StorageDates(createdAt: never, updatedAt: never))
        try await engine.write(items: [item])
        #expect(try await engine.fetchDates(key: CacheKey("a"))?.createdAt == Date(timeIntervalSince1970: 0))
    }
}
#endif
