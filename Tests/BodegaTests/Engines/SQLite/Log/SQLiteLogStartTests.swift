import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Followers of a collection whose log is created only when it has to contain something.
@Suite struct SQLiteLogStartTests {

    private let folder = TemporaryFolder()

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func start(of engine: SQLiteStorageEngine) async throws -> StorageCursor {
        try await engine.readSnapshot { _, _ in }
    }

    /// Uses the file like a program that does not use this package.
    private func foreign(_ sql: String) throws {
        let database = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    private func hasLog() throws -> Bool {
        let database = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        defer { withExtendedLifetime(database) {} }
        return try database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE name LIKE 'emporium%'") ?? 0 > 0
        }
    }

    private func write(_ keys: String..., to engine: SQLiteStorageEngine, _ text: String = "1") async throws {
        for key in keys { try await engine.write(Data(text.utf8), key: CacheKey(verbatim: key)) }
    }

    /// The changes as texts, such as "+a" and "-b".
    private func changes(since cursor: StorageCursor, in engine: SQLiteStorageEngine) async throws -> [String]? {
        let changed = try await engine.fetchChangedItems(since: cursor, excluding: nil)
        return changed?.changes.map { ($0.kind == .written ? "+" : "-") + $0.key.rawValue }
    }

    @Test("A reader of all items of a small file creates no log, and one of a large file does")
    func smallAndLarge() async throws {
        let engine = try open()
        try await write("a", to: engine)
        _ = try await start(of: engine)
        #expect(try !hasLog())
        let large = try engine.collection(named: "large")
        try await large.write(Data(count: SQLiteLog.Starts.largestFile), key: CacheKey("b"))
        _ = try await start(of: large)
        #expect(try hasLog())
    }

    @Test("Each change after the start is reported: through the same file, by another engine, by another program")
    func writers() async throws {
        let engine = try open()
        try await write("a", "b", "c", to: engine)
        let cursor = try await start(of: engine)
        #expect(try await changes(since: cursor, in: engine) == [])
        #expect(try !hasLog())
        try foreign("DELETE FROM data WHERE key = 'b'")
        #expect(try await changes(since: cursor, in: engine) == ["-b"])
        #expect(try hasLog())
        try await write("a", to: open(), "2")
        try await write("d", to: engine)
        #expect(try await changes(since: cursor, in: engine) == ["-b", "+a", "+d"])
    }

    @Test("After another connection's commit, the engine's own first write is not the only change")
    func foreignBeforeOwn() async throws {
        let engine = try open()
        try await write("a", to: engine)
        let cursor = try await start(of: engine)
        try foreign("UPDATE data SET value = x'32' WHERE key = 'a'")
        let batch = StorageBatch([.write(key: CacheKey(verbatim: "b"), data: Data())])
        let commit = try #require(await engine.apply(batch).value.commit)
        #expect(commit.before != cursor)
        #expect(try await changes(since: cursor, in: engine) == ["+a", "+b"])
    }

    @Test("Changes without their items are reported, too, even if there are none after another connection's commit")
    func changesAlone() async throws {
        let engine = try open()
        try await write("a", to: engine)
        let cursor = try await start(of: engine)
        try foreign("CREATE TABLE other (id)")
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil)?.changes.isEmpty == true)
        try await engine.remove(key: CacheKey(verbatim: "missing"))
        #expect(try hasLog())
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil)?.changes.isEmpty == true)
        try await write("b", to: engine)
        let changes = try #require(await engine.fetchChanges(since: cursor, excluding: nil)).changes
        #expect(changes.map(\.key) == [CacheKey(verbatim: "b")] && changes.map(\.kind) == [.written])
    }

    @Test("An own change is in the log with its origin, also between changes of other writers")
    func ownAmongOthers() async throws {
        for isCreatedByOther in [false, true] {
            let folder = TemporaryFolder()
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            try await write("a", "b", to: engine)
            let cursor = try await start(of: engine)
            let other = try SQLiteStorageEngine(opening: folder.directory)
            if isCreatedByOther { _ = try await other.fetchCursor() }
            try await other.remove(key: CacheKey(verbatim: "a"))
            let own = StorageOrigin()
            try await StorageOrigin.$current.withValue(own) { try await write("c", to: engine) }
            try await other.removeAllData()
            let changes = try #require(await engine.fetchChangedItems(since: cursor, excluding: own)).changes
            #expect(changes.map(\.key.rawValue) == ["a", "c", "b", "c"])
            #expect(changes.map(\.kind) == [.removed, .written, .removed, .removed])
            #expect(changes.map { $0.origin == own } == [false, true, false, false])
        }
    }

    @Test("A write that fails leaves the start as it was")
    func failedWrite() async throws {
        let engine = try open()
        try await write("a", to: engine)
        let cursor = try await start(of: engine)
        struct Failure: Error {}
        await #expect(throws: StorageError.self) {
            try await engine.core.write(to: engine.table, by: StorageOrigin()) { _ in throw Failure() }
        }
        #expect(try !hasLog())
        let commit = try await engine.apply(StorageBatch([.remove(key: CacheKey(verbatim: "a"))])).value.commit
        #expect(commit?.before == cursor)
    }

    @Test("Two readers of one collection share a start, and one that comes after the first change does not")
    func severalReaders() async throws {
        let engine = try open()
        try await write("a", to: engine)
        let (first, second) = (try await start(of: engine), try await start(of: engine))
        #expect(first == second)
        try await write("b", to: engine)
        let third = try await start(of: engine)
        #expect(third != first)
        #expect(try await changes(since: first, in: engine) == ["+b"])
        #expect(try await changes(since: third, in: engine) == [])
    }

    @Test("A reader that comes after another program's change gets a log")
    func readerAfterChange() async throws {
        let engine = try open()
        _ = try await start(of: engine)
        try foreign("INSERT INTO data (key, value) VALUES ('a', x'31')")
        let cursor = try await start(of: engine)
        #expect(try hasLog())
        #expect(try await changes(since: cursor, in: engine) == [])
    }

    @Test("Followers of several collections of a file each get the changes of their own")
    func collections() async throws {
        let engine = try open()
        let other = try engine.collection(named: "other")
        let cursors = (try await start(of: engine), try await start(of: other))
        try await write("a", to: engine)
        try await write("b", to: other)
        #expect(try await changes(since: cursors.0, in: engine) == ["+a"])
        #expect(try await changes(since: cursors.1, in: other) == ["+b"])
    }

    @Test("A change of another collection through the same file is not signaled, and one of another program is")
    func signals() async throws {
        let engine = try open()
        let other = try engine.collection(named: "other")
        _ = try await start(of: engine)
        var signals = engine.changeSignals().makeAsyncIterator()
        await signals.next()
        // Notes the version of each connection that the watch uses.
        engine.core.watch.check()
        try await write("a", to: other)
        #expect(try engine.core.tablesUnchangedSinceStart() == [engine.table.name])
        try foreign("INSERT INTO data (key, value) VALUES ('a', x'31')")
        #expect(try engine.core.tablesUnchangedSinceStart() == [])
        engine.core.watch.check()
        await signals.next()
    }

    @Test("A reader of all items creates a log that another program has removed in part, so that writes don't fail")
    func remains() async throws {
        let engine = try open()
        try await write("a", to: engine)
        _ = try await engine.fetchCursor()
        try foreign("DROP TABLE emporium_changes_data")
        let cursor = try await start(of: open())
        try foreign("UPDATE data SET value = x'32'")
        #expect(try await changes(since: cursor, in: open()) == ["+a"])
    }

    @Test("A removed log does not bring a used start back")
    func removedLog() async throws {
        let engine = try open()
        let cursor = try await start(of: engine)
        try await write("a", to: engine)
        try await engine.removeChangeLog()
        try await write("b", to: engine)
        #expect(try await changes(since: cursor, in: engine) == ["+a", "+b"])
    }

    @Test("The net effect of random changes of another program leads to its items, in its order")
    func randomChanges() async throws {
        var random = SeededGenerator(seed: Seed.current)
        print("changes before a log: EMPORIUM_SEED=\(Seed.current)")
        for _ in 0..<200 {
            let keys = (0..<8).map { "key \($0)" }
            var items: [(key: CacheKey, data: Data)] = []
            func change() {
                let key = CacheKey(verbatim: keys.randomElement(using: &random) ?? "")
                let data = Data("\(Int.random(in: 0..<3, using: &random))".utf8)
                let place = items.firstIndex { $0.key == key }
                switch (place, Bool.random(using: &random)) {
                case (let place?, true): items[place].data = data
                case (let place?, false): items.remove(at: place)
                case (nil, _): items.append((key, data))
                }
            }
            for _ in 0..<Int.random(in: 0..<12, using: &random) { change() }
            let before = items
            for _ in 0..<Int.random(in: 0..<12, using: &random) { change() }
            let changes = SQLiteDigest(of: before).changes(to: items)
            // As a reader applies them.
            var shown = before
            for change in changes {
                let place = shown.firstIndex { $0.key == change.key }
                switch change.kind {
                case .removed: if let place { shown.remove(at: place) }
                case .written:
                    let data = items.first { $0.key == change.key }?.data ?? Data()
                    if let place { shown[place].data = data } else { shown.append((change.key, data)) }
                }
            }
            #expect(shown.map(\.key) == items.map(\.key))
            #expect(shown.map(\.data) == items.map(\.data))
            // Nothing is reported without a change.
            if before.map(\.key) == items.map(\.key), before.map(\.data) == items.map(\.data) {
                #expect(changes.isEmpty)
            }
        }
    }
}
