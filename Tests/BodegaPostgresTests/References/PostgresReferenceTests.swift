#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// References in PostgreSQL: what they leave, and what they cost. The oracle is psql.
@Suite("References in PostgreSQL")
struct PostgresReferenceTests {

    @Test("leave what a naive program leaves", arguments: [false, true])
    func agreement(isIndexed: Bool) async throws {
        let names = ["a", "b", "c"]
        let engines = try await Collections(nil, names).engines
        if isIndexed {
            for (number, path) in ["one", "two"].enumerated() {
                for engine in engines { try await engine.createIndex(StorageIndex(path, isForText: number == 0)) }
            }
        }
        let cases = max(1, TestSizes.references / 5)
        let defects = try await ReferenceModel.findDefects(cases: cases, seed: Seed.current) { _ in
            for engine in engines { try await engine.declareReferences([]) }
            for engine in engines { try await engine.removeAllData() }
            return Dictionary(uniqueKeysWithValues: zip(names, engines))
        }
        #expect(defects == [], "EMPORIUM_SEED=\(Seed.current)")
    }

    @Test(
        "are kept by each way to remove an item",
        arguments: ["one", "some", "batch", "all", "replacement", "group", "collection"])
    func ways(_ way: String) async throws {
        let folders = try await Folders()
        let large = Data(repeating: UInt8(ascii: " "), count: 100_000)
        try await folders.folders.write(Folders.folder("large") + large, key: CacheKey("large"))
        for name in ["1", "2", "large"] { try await folders.add(3, to: name) }
        let (engine, key) = (folders.folders, CacheKey("1"))
        var left: Set = ["2", "large"]
        switch way {
        case "one": try await engine.remove(key: key)
        case "some":
            try await engine.remove(keys: [key, CacheKey("large"), CacheKey("none")])
            left = ["2"]
        case "batch":
            let new = (0..<1_000).map { number in
                StorageOperation.write(key: CacheKey("new \(number)"), data: Folders.folder("new \(number)"))
            }
            let operations = [.remove(key: key), .remove(key: CacheKey("2"))] + new
            let again = StorageOperation.write(key: CacheKey("2"), data: Folders.folder("2"))
            _ = try await engine.apply(StorageBatch(operations + [again]))
        case "all":
            try await engine.removeAllData()
            left = []
        case "replacement":
            let again = StorageOperation.write(key: CacheKey("2"), data: Folders.folder("2"))
            _ = try await engine.apply(StorageBatch([.removeAll, again]))
            left = ["2"]
        case "group":
            let note = StorageOperation.write(key: CacheKey("new"), data: Folders.note("new", in: "1"))
            let answers = try await StorageBatchGroup.apply([
                (engine: folders.notes, batch: StorageBatch([note, .remove(key: CacheKey("none"))])),
                (engine: engine, batch: StorageBatch([.remove(key: key)])),
            ])
            #expect(answers.allSatisfy { $0.value.wasApplied })
        default:
            try await folders.database.removeCollection(named: "folders")
            left = []
        }
        #expect(try await folders.ofNotes() == Dictionary(uniqueKeysWithValues: left.map { ($0, 3) }))
        #expect(try await folders.danglingNotes() == 0)
    }

    @Test("that refuse a removal leave everything as it was, and the connection usable")
    func refusal() async throws {
        let folders = try await Folders(.refuse)
        try await folders.add(3, to: "1")
        let before = try await folders.schema.sql("SELECT count(*) FROM emporium_changes")
        let removals: [@Sendable () async throws -> Void] = [
            { try await folders.folders.remove(key: CacheKey("1")) },
            { try await folders.folders.remove(keys: [CacheKey("2"), CacheKey("1")]) },
            { try await folders.folders.removeAllData() },
            { try await folders.database.removeCollection(named: "folders") },
        ]
        for remove in removals {
            let error = await #expect(throws: StorageError.self) { try await remove() }
            #expect(error?.code == .referenced && error?.message.contains("\"notes\"") == true)
        }
        #expect(try await folders.schema.sql("SELECT count(*) FROM emporium_changes") == before)
        #expect(try await folders.schema.sql("SELECT count(*) FROM emporium_items") == "5")
        // The notes go in the same transaction.
        let batches = [folders.folders, folders.notes].map { ($0 as any StorageBackend, StorageBatch([.removeAll])) }
        _ = try await StorageBatchGroup.apply(batches.map { (engine: $0.0, batch: $0.1) })
        #expect(try await folders.schema.sql("SELECT count(*) FROM emporium_items") == "0")
    }

    @Test("are logged after the removal, and shared with it if anything follows")
    func log() async throws {
        let folders = try await Folders()
        try await folders.add(2, to: "1")
        let origin = StorageOrigin()
        for key in ["2", "1"] {
            let cursors = (try await folders.folders.fetchCursor(), try await folders.notes.fetchCursor())
            _ = try await folders.folders.apply(StorageBatch([.remove(key: CacheKey(key))], origin: origin))
            func changes(_ engine: PostgresStorageEngine, _ cursor: StorageCursor) async throws -> [StorageChange] {
                let request = ChangesRequest(since: cursor)
                let delta = try await engine.fetchChanges(request).value
                return try #require(delta).changes
            }
            let own = try await changes(folders.folders, cursors.0)
            let others = try await changes(folders.notes, cursors.1)
            #expect(own.map(\.key) == [CacheKey(key)] && own.allSatisfy { $0.kind == .removed && $0.origin == origin })
            #expect(own.allSatisfy { $0.origin?.isShared == (key == "1") })
            #expect(others.count == (key == "1" ? 2 : 0))
            #expect(others.allSatisfy { $0.kind == .removed && $0.origin?.isShared == true && $0.origin != origin })
        }
        // A child that the batch itself has written comes and goes, in this order.
        let tree = try await Folders(of: "folders")
        let child = StorageOperation.write(key: CacheKey("child"), data: Folders.note("child", in: "1"))
        _ = try await tree.folders.apply(StorageBatch([.remove(key: CacheKey("1")), child]))
        let rows = "SELECT cardinality(removed) || '-' || cardinality(written) FROM emporium_changes ORDER BY id DESC"
        #expect(try await tree.schema.sql(rows + " LIMIT 2") == "1-0\n1-1")
        #expect(try await tree.folders.fetchKeys() == [CacheKey("2")])
    }

    @Test("to many items, in lists without an index, are kept by a batch", arguments: [true, false])
    func many(isCleared: Bool) async throws {
        let count = TestSizes.children
        let collections = try await Collections(nil, ["folders", "notes"])
        let reference = StorageReference("in", isList: true, to: "folders", onRemoval: isCleared ? .clear : .remove)
        try await collections.right.declareReferences([reference])
        let keys = (0..<count).map { CacheKey(verbatim: "\($0)") }
        try await collections.left.write(keys.enumerated().map { ($1, Data(#"{"id":\#($0)}"#.utf8)) })
        try await collections.right.write(
            keys.enumerated().map { ($1, Data(#"{"in":[\#($0),\#(($0 + 1) % count)]}"#.utf8)) })
        let start = ContinuousClock.now
        // All but every tenth.
        try await collections.left.remove(keys: (0..<count).filter { $0 % 10 != 0 }.map { keys[$0] })
        print("\(count) lists, cleared: \(isCleared), took \(ContinuousClock.now - start)")
        let sql = """
            SELECT count(*), sum(json_array_length(convert_from(data, 'UTF8')::json -> 'in'))
            FROM emporium_items WHERE collection = \(collections.right.number)
            """
        #expect(try await collections.schema.sql(sql) == (isCleared ? "\(count)|\(count / 5)" : "0|"))
        #expect(try await collections.left.fetchCount() == count / 10)
    }

    @Test("cost removals of items that none can name no message, but for a removal of all")
    func cost() async throws {
        let schema = try await Schemas.shared.schema()
        let server = try await PostgresServer.shared()
        let proxy = try FaultyProxy(to: server.port)
        let database = try await PostgresDatabase(
            connecting: server.url(through: proxy, schema.url), options: .patient(maximumConnections: 2))
        let notes = try await database.collection(named: "notes")
        let folders = try await database.collection(named: "folders")
        func messages(_ body: () async throws -> Void) async throws -> Int {
            await database.announcer.finish()
            let count = Locked(0)
            proxy.loseAnswer(
                where: { answer in
                    // The end of the answer to a message: the server is idle or in a transaction.
                    let ends = ["I", "T", "E"].map { Data([0x5A, 0, 0, 0, 5]) + Data($0.utf8) }
                    if ends.contains(where: { answer.range(of: $0) != nil }) { count.withLock { $0 += 1 } }
                    return false
                }, after: {})
            try await body()
            let result = count.withLock { $0 }
            await database.announcer.finish()
            return result
        }
        let keys = (0..<10).map { CacheKey("\($0)") }
        try await notes.write(keys.map { ($0, Data("{}".utf8)) })
        for isDeclared in [false, true] {
            if isDeclared {
                try await notes.declareReferences([StorageReference("f", to: "folders", onRemoval: .remove)])
            }
            let counts = [
                try await messages { try await notes.remove(key: keys[0]) },
                try await messages { try await notes.remove(keys: Array(keys[1..<4])) },
                try await messages { try await notes.removeAllData() },
            ]
            print("messages of a removal, of several, of all: \(counts)")
            #expect(counts[0] <= 1 && counts[1] <= 2 && counts[2] <= 3)
        }
        try await folders.write(keys.map { ($0, Data("{}".utf8)) })
        let counts = [
            try await messages { try await folders.remove(key: keys[0]) },
            try await messages { try await folders.remove(keys: Array(keys[1..<4])) },
            try await messages { try await folders.removeAllData() },
        ]
        print("the same of items that references may name: \(counts)")
        #expect(counts.allSatisfy { $0 <= 8 })
    }
}
#endif
