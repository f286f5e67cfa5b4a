import BodegaTesting
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Bodega

/// Creations that are cancelled, killed, or disturbed by another one.
extension SQLiteIndexBuildTests {

    @Test("that is cancelled leaves nothing", arguments: [0, 1, 4, 9])
    func cancellation(step: Int) async throws {
        try await fill(60)
        let before = try other.read { try Row.fetchAll($0, sql: "SELECT *, rowid FROM data") }
        let (steps, task) = (Locked(0), Locked<Task<Void, any Error>?>(nil))
        let builder = try builder { _, _ in
            if steps.withLock({
                $0 += 1; return $0
            }) == step + 1 {
                task.withLock { $0?.cancel() }
            }
        }
        task.withLock { $0 = Task { try await builder.create() } }
        let running = try #require(task.withLock { $0 })
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(try remains() == [])
        #expect(try await engine.fetchIndexes() == [])
        let after = try other.read { try Row.fetchAll($0, sql: "SELECT *, rowid FROM data") }
        #expect(after == before)
        try await self.builder().create()
        try await expectComplete()
    }

    @Test("that is cancelled lets another one go on")
    func cancellationBesideAnother() async throws {
        try await fill(3_000)
        let (counts, cancelled) = (Locked<[Int]>([]), Locked(0))
        let going = try builder { count, _ in counts.withLock { $0.append(count) } }
        let complete = Task {
            try await going.create()
            return cancelled.withLock { $0 }
        }
        while counts.withLock({ $0.count < 3 }) { await Task.yield() }
        for _ in 0..<2 where counts.withLock({ ($0.last ?? 0) < 2_000 }) {
            let task = Locked<Task<Void, any Error>?>(nil)
            let stopped = try builder { _, _ in task.withLock { $0?.cancel() } }
            let running = Task { try await stopped.create() }
            task.withLock { $0 = running }
            await #expect(throws: CancellationError.self) { try await running.value }
            cancelled.withLock { $0 += 1 }
        }
        _ = try await complete.value
        // It has not begun again.
        #expect(counts.withLock { $0 == $0.sorted() })
        try await expectComplete()
    }

    /// Begins, adds some parts, and stops like a program that is killed.
    private func interrupt(after parts: Int = 3) async throws {
        let build = try SQLiteIndexBuild(of: SQLiteIndex(index, of: engine.table), engine.table)
        let limits = SQLiteIndexBuild.Limits(rows: 7, bytes: 1 << 20)
        try await engine.core.writeUnreported { db in
            _ = try #require(try build.begin(total: build.table.count(in: db), limits, in: db))
            for _ in 0..<parts { _ = try build.add(#require(try build.nextPart(limits, in: db)), in: db) }
        }
    }

    @Test("that begins again does not get what was read for the one before, from which changes since then are missing")
    func repetition() async throws {
        try await fill(60)
        let build = try SQLiteIndexBuild(of: SQLiteIndex(index, of: engine.table), engine.table)
        let limits = SQLiteIndexBuild.Limits(rows: 7, bytes: 1 << 20)
        try await engine.core.writeUnreported { db in
            _ = try build.begin(total: 60, limits, in: db)
        }
        // A process that is stopped here, while another one cancels the creation, writes, and creates the index.
        let part = try await other.read { try #require(try build.nextPart(limits, in: $0)) }
        try await engine.removeIndex(index)
        try await other.write { try $0.execute(sql: "UPDATE data SET value = '{\"a\":77}' WHERE key IN ('1', '3')") }
        try await engine.core.writeUnreported { db in
            _ = try build.begin(total: 60, limits, in: db)
            #expect(try build.add(part, in: db)?.count == 0)
        }
        try await builder().create()
        try await expectComplete()
    }

    @Test("goes on where a killed program has stopped, with what others have changed")
    func resumption() async throws {
        try await fill(60)
        try await interrupt()
        #expect(try await engine.examine().map(\.severity) == [.remark])
        try await other.write { db in
            try db.execute(sql: "INSERT OR REPLACE INTO data (key, value) VALUES ('2', '{\"a\":77}')")
            try db.execute(sql: "DELETE FROM data WHERE key IN ('3', '50')")
            try db.execute(sql: "UPDATE data SET value = '{}' WHERE key = '4'")
        }
        let reports = Locked<[Int]>([])
        try await builder { count, _ in reports.withLock { $0.append(count) } }.create()
        #expect(reports.withLock { $0.first } == 21)
        try await expectComplete()
    }

    @Test("happens in one transaction if SQLite does not let the schema be changed")
    func protection() async throws {
        try await fill(60)
        func setAuthorizer(_ isProtected: Bool) async throws {
            try await engine.core.writeUnreported { db in
                sqlite3_set_authorizer(
                    db.sqliteConnection,
                    !isProtected
                        ? nil
                        : { _, action, name, _, _, _ in
                            guard action == SQLITE_PRAGMA, let name else { return SQLITE_OK }
                            return String(cString: name) == "writable_schema" ? SQLITE_IGNORE : SQLITE_OK
                        }, nil)
            }
        }
        try await setAuthorizer(true)
        try await engine.core.writeUnreported { db in
            #expect(throws: Database.SchemaIsProtected.self) { try db.changeSchema("SELECT 1") {} }
        }
        let reports = Locked<[Int]>([])
        try await builder { count, _ in reports.withLock { $0.append(count) } }.create()
        #expect(reports.withLock { $0.count } > 5)
        try await setAuthorizer(false)
        try await expectComplete()
        try await other.write { try $0.execute(sql: "UPDATE data SET value = '{}' WHERE key = '1'") }
        try await expectComplete()
    }

    @Test("that was interrupted is removed with the index, and with its collection")
    func removal() async throws {
        try await fill(60)
        try await interrupt()
        #expect(try remains().count == 9)
        try await engine.removeIndex(index)
        #expect(try remains() == [])
        let collection = try engine.collection(named: "people")
        try await collection.write((0..<60).map { (CacheKey(verbatim: "\($0)"), Data("{\"a\":\($0)}".utf8)) })
        let build = try SQLiteIndexBuild(of: SQLiteIndex(index, of: collection.table), collection.table)
        try await engine.core.writeUnreported { db in
            _ = try build.begin(total: 60, .init(rows: 7, bytes: 1 << 20), in: db)
        }
        #expect(try remains().count == 9)
        // The name of a path contains that of the collection's table.
        let path = StorageIndex("x:emporium_collection_1:y")
        let third = try SQLiteIndexBuild(of: SQLiteIndex(path, of: engine.table), engine.table)
        try await engine.core.writeUnreported { db in
            _ = try third.begin(total: 60, .init(rows: 7, bytes: 1 << 20), in: db)
        }
        try await engine.removeCollection(named: "people")
        #expect(try remains().count == 9)
        try await engine.write(Data("{}".utf8), key: CacheKey(verbatim: "0"))
        try await engine.removeIndex(path)
        #expect(try remains() == [])
    }

    @Test("does not go on in a copy that was made item by item, where items have other row numbers")
    func dump() async throws {
        try await fill(60)
        try await other.write { try $0.execute(sql: "DELETE FROM data WHERE rowid % 5 = 1") }
        try await interrupt()
        let dump = Process()
        dump.executableURL = URL(fileURLWithPath: "/bin/sh")
        dump.arguments = ["-c", "sqlite3 \"$0\" .dump | sqlite3 \"$1\"", folder.file("data.sqlite3").path]
        dump.arguments?.append(folder.file("copy.sqlite3").path)
        try dump.start()
        await blocking { dump.waitUntilExit() }
        let copy = try SQLiteStorageEngine(opening: folder.directory, databaseFilename: "copy")
        #expect(try remains(in: "copy").count == 9)
        var builder = try SQLiteIndexBuilder(of: SQLiteIndex(index, of: copy.table), copy.table, in: copy.core)
        builder.pace.limits.rows = 7
        builder.pace.rows = 7...7
        try await builder.create()
        try await expectComplete(nil, in: "copy", copy)
        #expect(try await copy.fetchCount() == 48)
    }

    @Test("by two programs gives one index")
    func together() async throws {
        try await fill(300)
        let second = try SQLiteStorageEngine(opening: folder.directory)
        var builders = [try builder(), try builder()]
        builders.append(
            try SQLiteIndexBuilder(of: SQLiteIndex(index, of: second.table), second.table, in: second.core))
        builders[2].pace = builders[0].pace
        try await withThrowingTaskGroup(of: Void.self) { group in
            for builder in builders { group.addTask { try await builder.create() } }
            try await group.waitForAll()
        }
        try await expectComplete()
    }

    @Test("begins, goes on, or ends by what it finds in its first transaction, which others may have changed")
    func beginnings() async throws {
        try await fill(300)
        let builder = try builder()
        func begin() async throws -> SQLiteIndexBuilder.Beginning {
            try await other.write { try builder.begin(total: 300, builder.pace.limits, in: $0) }
        }
        let begun = try await begin()
        guard case .begun = begun else { throw StorageError(.invalidArgument, "\(begun)") }
        #expect(try await begin() == begun)
        // As after another program has given up, and before it removes what remains.
        try await other.write { try builder.build.end(in: $0) }
        #expect(try await begin() == .hindered)
        try await builder.create()
        #expect(try await begin() == .complete)
        try await expectComplete()
    }

    @Test("beside a program that creates, cancels or removes the same index ends with an index, or begins again")
    func interference() async throws {
        try await fill(60)
        let definition = try SQLiteIndex(index, of: engine.table).definition
        for step in [0, 2, 5, 8] {
            // As another version of this package does.
            let steps = Locked(0)
            try await builder { [other] _, _ in
                guard
                    steps.withLock({
                        $0 += 1; return $0
                    }) == step + 1
                else { return }
                do { try other.write { try $0.execute(sql: definition) } } catch { Issue.record(error) }
            }.create()
            try await expectComplete("step \(step)")
            try await engine.removeIndex(index)
            let build = try SQLiteIndexBuild(of: SQLiteIndex(index, of: engine.table), engine.table)
            let again = Locked(0)
            try await builder { [other] _, _ in
                guard
                    again.withLock({
                        $0 += 1; return $0
                    }) == step + 1
                else { return }
                do { try other.write { try build.end(in: $0) } } catch { Issue.record(error) }
            }.create()
            try await expectComplete("step \(step)")
            try await engine.removeIndex(index)
        }
    }

    @Test("survives kills: the next program goes on after what was acknowledged, with what others have changed")
    func kills() async throws {
        print("kills while an index is created: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        try await fill(60_000)
        try await engine.close()
        let plain = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        var acknowledged = 0
        for round in 0..<TestSizes.kills {
            let child = try Child("create-index", folder.path)
            var lines: [String] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                if let line = await child.nextLine() { lines.append(line) }
            }
            child.kill()
            lines += await child.lines()
            let counts = lines.compactMap { Int($0) }
            if let first = counts.first {
                #expect(first >= acknowledged, "round \(round)")
            } else {
                // The program before was killed between the last transaction and its report.
                #expect(lines == ["done"], "round \(round)")
            }
            acknowledged = counts.last ?? 0
            for _ in 0..<5 {
                let (key, value) = (Int.random(in: 0..<60_000, using: &random), Int.random(in: 0..<99, using: &random))
                try await plain.write {
                    try $0.execute(
                        sql: "INSERT OR REPLACE INTO data (key, value) VALUES ('\(key)', '{\"a\":\(value)}')")
                    try $0.execute(sql: "DELETE FROM data WHERE key = '\(key + 1)'")
                }
            }
            if lines.last == "done" {
                let engine = try SQLiteStorageEngine(opening: folder.directory)
                try await expectComplete(nil, in: "data", engine)
                try await engine.removeIndex(index)
                try await engine.close()
                acknowledged = 0
            }
        }
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.createIndex(index)
        try await expectComplete(nil, in: "data", engine)
    }
}
