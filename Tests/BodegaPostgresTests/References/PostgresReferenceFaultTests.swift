#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Removals with their consequences under faults: all or nothing, and exactly once. The oracle is psql.
@Suite("A removal with consequences")
struct PostgresReferenceFaultTests {

    /// Adds a folder with notes in one transaction.
    private static func add(_ name: String, _ count: Int, to folders: Folders) async throws {
        let folder = StorageOperation.write(key: CacheKey(name), data: Folders.folder(name))
        let notes = (0..<count).map { number in
            StorageOperation.write(
                key: CacheKey("\(name) \(number)"), data: Folders.note("\(name) \(number)", in: name))
        }
        _ = try await StorageBatchGroup.apply([
            (engine: folders.folders, batch: StorageBatch([folder])),
            (engine: folders.notes, batch: StorageBatch(notes)),
        ])
    }

    /// Cuts the connection at the n-th answer of the server, from the beginning of the transaction to its commit.
    @Test("is applied once if its connection is cut", arguments: ["one", "some", "all"])
    func cuts(_ kind: String) async throws {
        let observer = try await Folders()
        let server = try await PostgresServer.shared()
        let proxy = try FaultyProxy(to: server.port)
        let cut = try await Folders(
            schema: observer.schema, url: server.url(through: proxy, observer.schema.url),
            options: .patient(maximumConnections: 2))
        var random = SeededGenerator(seed: Seed.current)
        print("EMPORIUM_SEED=\(Seed.current)")
        try await observer.add(3, to: "2")
        var removed = 0
        for round in 0..<TestSizes.connectionCuts {
            let count = round % 5 == 0 ? 1_100 : 20
            try await Self.add("f", count, to: observer)
            if kind == "all" { try await observer.folders.remove(keys: ["1", "2"].map { CacheKey($0) }) }
            removed += count
            await cut.database.announcer.finish()
            let rest = Locked(Int.random(in: 0..<(round % 5 == 0 ? 12 : 7), using: &random))
            proxy.loseAnswer(
                where: { _ in
                    rest.withLock { rest in
                        rest -= 1
                        return rest < 0
                    }
                }, after: {})
            switch kind {
            case "one": try await cut.folders.remove(key: CacheKey("f"))
            case "some": try await cut.folders.remove(keys: [CacheKey("f"), CacheKey("none")])
            default: try await cut.folders.removeAllData()
            }
            #expect(try await observer.ofNotes() == (kind == "all" ? [:] : ["2": 3]), "round \(round)")
            #expect(try await observer.folders.fetch(key: CacheKey("f")) == nil)
        }
        let log = "SELECT coalesce(sum(cardinality(removed)), 0) FROM emporium_changes WHERE collection = "
        let rounds = TestSizes.connectionCuts
        // With the folders "1" and "2", and the notes of the latter.
        #expect(
            try await observer.schema.sql(log + "\(observer.folders.number)") == "\(rounds + (kind == "all" ? 2 : 0))")
        #expect(
            try await observer.schema.sql(log + "\(observer.notes.number)") == "\(removed + (kind == "all" ? 3 : 0))")
    }

    @Test("is applied as a whole or not at all if server processes are terminated")
    func terminations() async throws {
        let server = try await PostgresServer.launch()
        let place = Schemas.Schema(name: "public", database: try await server.makeDatabase())
        let folders = try await Folders(schema: place, options: .patient())
        let (count, rounds) = (1_200, TestSizes.transfers / 4)
        try await folders.notes.createIndex(StorageIndex("folder"))
        let isOver = Locked(false)
        let ended = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for round in 0..<rounds {
                        let name = "\(writer)-\(round)"
                        try await Self.add(name, count, to: folders)
                        try await folders.folders.remove(key: CacheKey(name))
                    }
                }
            }
            group.addTask {
                let end = """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE application_name = 'emporium' AND state <> 'idle' AND random() < 0.3
                    """
                while !isOver.withLock({ $0 }) {
                    let number = Int(try await server.sql(end)) ?? 0
                    ended.withLock { $0 += number }
                    // In one statement: at each moment, a folder has all of its notes, or none.
                    #expect(try await folders.danglingNotes() == 0)
                    #expect(try await folders.ofNotes().values.allSatisfy { $0 == count })
                }
            }
            for _ in 0..<2 { try await group.next() }
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        print("\(ended.withLock { $0 }) processes terminated in \(2 * rounds) removals")
        #expect(try await folders.ofNotes() == [:])
        let log = "SELECT sum(cardinality(removed)) FROM emporium_changes WHERE collection = "
        #expect(try await place.sql(log + "\(folders.folders.number)") == "\(2 * rounds)")
        #expect(try await place.sql(log + "\(folders.notes.number)") == "\(2 * rounds * count)")
    }

    @Test("of two that cross ends, and nothing is left")
    func crossing() async throws {
        let first = try await Collections()
        let second = try await Collections(first.schema)
        try await first.left.declareReferences([StorageReference("other", to: "right", onRemoval: .remove)])
        try await first.right.declareReferences([StorageReference("other", to: "left", onRemoval: .remove)])
        let keys = (0..<40).map { CacheKey("\($0)") }
        let data = (0..<40).map { Data(#"{"id":\#($0),"other":\#($0)}"#.utf8) }
        var longest = Duration.zero
        for round in 0..<(TestSizes.transfers / 4) {
            for engine in first.engines { try await engine.write(Array(zip(keys, data))) }
            let start = ContinuousClock.now
            async let left: Void = first.left.remove(keys: keys)
            async let right: Void = second.right.remove(keys: round % 2 == 0 ? keys.reversed() : [keys[round % 40]])
            _ = try await (left, right)
            longest = max(longest, ContinuousClock.now - start)
            #expect(try await first.schema.sql("SELECT count(*) FROM emporium_items") == "0", "round \(round)")
        }
        print("crossing removals took up to \(longest)")
    }

    /// Numbers that show which of two events came first.
    private struct Clock: Sendable {
        private let number = Locked(0)
        func next() -> Int {
            number.withLock { number in
                number += 1
                return number
            }
        }
    }

    /// One program removes folders, others insert notes and move them between folders, some in a transaction in which
    /// the folder exists.
    @Test("leaves no note that was written before")
    func race() async throws {
        let remover = try await Folders()
        let other = try await Folders(schema: remover.schema)
        try await other.notes.createIndex(StorageIndex("folder"))
        let names = (0..<(TestSizes.transfers / 2)).map { "f\($0)" }
        try await remover.folders.write(names.map { (CacheKey($0), Folders.folder($0)) })
        struct Write {
            var folder: String
            var begun: Int
            var returned: Int
        }
        let time = Clock()
        let removals = Locked<[String: (begun: Int, ended: Int)]>([:])
        let writes = Locked<[String: Write]>([:])
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    var random = SeededGenerator(seed: Seed.current &+ UInt64(writer))
                    while !isOver.withLock({ $0 }) {
                        let note = "w\(writer)-\(Int.random(in: 0..<50, using: &random))"
                        let folder = names.randomElement(using: &random) ?? "f0"
                        let begun = time.next()
                        let operation = StorageOperation.write(
                            key: CacheKey(note), data: Folders.note(note, in: folder))
                        if writer == 2 {
                            let condition = StorageCondition(key: CacheKey(folder), data: Folders.folder(folder))
                            let answers = try await StorageBatchGroup.apply([
                                (engine: other.folders, batch: StorageBatch([], if: [condition])),
                                (engine: other.notes, batch: StorageBatch([operation])),
                            ])
                            if !answers.allSatisfy({ $0.value.wasApplied }) { continue }
                        } else {
                            _ = try await other.notes.apply(StorageBatch([operation]))
                        }
                        let write = Write(folder: folder, begun: begun, returned: time.next())
                        writes.withLock { $0[note] = write }
                    }
                }
            }
            group.addTask {
                // Some folders stay.
                for name in names.dropLast(5) {
                    let begun = time.next()
                    try await remover.folders.remove(key: CacheKey(name))
                    let ended = time.next()
                    removals.withLock { $0[name] = (begun, ended) }
                }
                isOver.withLock { $0 = true }
            }
            try await group.waitForAll()
        }
        let ends = removals.withLock { $0 }
        var (dangling, gone) = (0, 0)
        let sql = """
            SELECT convert_from(data, 'UTF8')::json ->> 'id', convert_from(data, 'UTF8')::json ->> 'folder'
            FROM emporium_items WHERE collection = \(other.notes.number)
            """
        let stored = Dictionary(
            uniqueKeysWithValues: try await remover.schema.sql(sql).split(separator: "\n").map { line in
                (String(line.split(separator: "|")[0]), String(line.split(separator: "|")[1]))
            })
        for (note, write) in writes.withLock({ $0 }) {
            if let folder = stored[note] {
                #expect(folder == write.folder)
                guard let end = ends[folder] else { continue }
                dangling += 1
                #expect(write.returned > end.begun, "\(note) was written before \(folder) was removed")
                #expect(!note.hasPrefix("w2"), "\(note) was written while \(folder) existed")
            } else {
                gone += 1
                let end = try #require(ends[write.folder], "\(note) is lost")
                #expect(write.begun < end.ended, "\(note) is lost, which was written after the removal")
            }
        }
        print("\(stored.count) notes, \(gone) removed with their folder, \(dangling) written while it was removed")
    }

    /// A transaction that finds a folder, and writes a note into it, begins before the removal and commits in it.
    @Test("finds what a transaction has written that demands the removed item", arguments: [false, true])
    func condition(isIndexed: Bool) async throws {
        let folders = try await Folders()
        if isIndexed { try await folders.notes.createIndex(StorageIndex("folder")) }
        try await folders.notes.write(Folders.note("n", in: "2"), key: CacheKey("n"))
        let held = try await HeldTransaction(folders.schema)
        try await held.run("SELECT * FROM emporium_items WHERE collection = \(folders.notes.number) FOR UPDATE")
        async let moving = StorageBatchGroup.apply([
            (
                engine: folders.folders as any StorageBackend,
                batch: StorageBatch([], if: [StorageCondition(key: CacheKey("1"), data: Folders.folder("1"))])
            ),
            (
                engine: folders.notes,
                batch: StorageBatch([.write(key: CacheKey("n"), data: Folders.note("n", in: "1"))])
            ),
        ])
        try await folders.waitUntilBlocked(1)
        async let removing: Void = folders.folders.remove(keys: [CacheKey("1"), CacheKey("none")])
        try await folders.waitUntilBlocked(2)
        try await held.commit()
        let wasApplied = try await moving.allSatisfy { $0.value.wasApplied }
        try await removing
        #expect(try await folders.folders.fetchKeys() == [CacheKey("2")])
        #expect(try await folders.ofNotes() == (wasApplied ? [:] : ["2": 1]))
    }

    /// Another program removes a note, or moves it, while the removal of its folder waits for it.
    @Test("keeps what others do to the items that it concerns", arguments: [StorageReference.Removal.remove, .clear])
    func concurrentChange(_ removal: StorageReference.Removal) async throws {
        for isMoved in [false, true] {
            let folders = try await Folders(removal)
            try await folders.notes.write(["a", "b"].map { (CacheKey($0), Folders.note($0, in: "1")) })
            let held = try await HeldTransaction(folders.schema)
            let note = "emporium_items WHERE collection = \(folders.notes.number) AND key = '\\x00'::bytea || 'a'"
            let moved = String(decoding: Folders.note("a", in: "2"), as: UTF8.self)
            try await held.run(
                isMoved
                    ? "UPDATE emporium_items SET data = '\(moved)' WHERE (shard, collection, key) IN "
                        + "(SELECT shard, collection, key FROM \(note))"
                    : "DELETE FROM \(note)")
            async let removing: Void = folders.folders.remove(key: CacheKey("1"))
            try await folders.waitUntilBlocked(1)
            try await held.commit()
            try await removing
            let left = try await folders.notes.fetchKeys().map(\.rawValue)
            #expect(left == (isMoved ? ["a"] : []) + (removal == .clear ? ["b"] : []))
            #expect(try await folders.ofNotes()["1"] == nil)
            if isMoved { #expect(try await folders.notes.fetch(key: CacheKey("a")) == Folders.note("a", in: "2")) }
        }
    }

    @Test("takes many items with it while another program writes")
    func manyNotes() async throws {
        let schema = try await Schemas.shared.schema()
        let count = TestSizes.children
        let child = try Child("remove-folder", schema.url, "\(count)")
        #expect(await child.nextLine() == "begun")
        let folders = try await Folders(schema: schema)
        let isOver = Locked(false)
        async let writing = Self.writes(to: folders, until: { isOver.withLock { $0 } })
        let line = try #require(await child.nextLine())
        isOver.withLock { $0 = true }
        let (writes, longest) = try await writing
        print("\(count) notes: \(line) (ms, bytes); \(writes) writes of another program, the longest took \(longest)")
        // However many notes there are: a hundred thousand of them would take some forty megabytes.
        let bytes = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        #expect(bytes < 16 << 20)
        #expect(try await folders.ofNotes() == ["kept": count, "1": writes])
    }

    private static func writes(
        to folders: Folders, until isOver: @Sendable () -> Bool
    ) async throws -> (Int, Duration) {
        var (count, longest) = (0, Duration.zero)
        repeat {
            let start = ContinuousClock.now
            try await folders.notes.write(Folders.note("other \(count)", in: "1"), key: CacheKey("other \(count)"))
            longest = max(longest, ContinuousClock.now - start)
            count += 1
        } while !isOver()
        return (count, longest)
    }
}
#endif
