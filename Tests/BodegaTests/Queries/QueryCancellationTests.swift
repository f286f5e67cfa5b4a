import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// What happens after a task was cancelled in the middle of a query, counted in objects.
@Suite("A query whose task is cancelled", .unhurriedReads, .serialized)
struct QueryCancellationTests {

    /// An object whose first one to be decoded cancels the task that reads.
    private struct Row: Queryable {
        var rank: Int
        static let indexes = [Index("rank", \Row.rank)]
        static let state = Locked((decoded: 0, reading: Task<Void, any Error>?.none))

        init(rank: Int) { self.rank = rank }

        init(from decoder: any Decoder) throws {
            let reading = Self.state.withLock { state in
                state.decoded += 1
                return state.reading
            }
            reading?.cancel()
            rank = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .rank)
        }
    }

    private enum Engine: String, CaseIterable {
        case sqlite, indexedSQLite, memory, disk, encrypted

        func storage(in folder: TemporaryFolder) async throws -> ObjectStorage<Row> {
            switch self {
            case .sqlite, .indexedSQLite:
                let engine = try SQLiteStorageEngine(openingFile: folder.file(rawValue), durability: .relaxed)
                if self == .indexedSQLite { try await engine.createIndex(StorageIndex("rank", isForText: false)) }
                return ObjectStorage(storage: engine)
            case .memory: return ObjectStorage(storage: MemoryStorageEngine())
            case .disk:
                let folder = FileManager.Directory(url: folder.file(rawValue))
                return ObjectStorage(storage: try DiskStorageEngine(opening: folder, durability: .relaxed))
            case .encrypted:
                return ObjectStorage(storage: MemoryStorageEngine().encrypted(with: EncryptionKeyset()))
            }
        }
    }

    private static let queries: [(name: String, run: @Sendable (ObjectStorage<Row>) async throws -> Void)] = [
        ("fetch", { _ = try await $0.fetch(Query(sortedBy: SortDescriptor(\.rank))) }),
        ("count", { _ = try await $0.count(Query(where: #Predicate { $0.rank * 2 > 0 })) }),
        ("first", { _ = try await $0.first(Query(where: #Predicate { $0.rank * 2 < 0 })) }),
        ("exists", { _ = try await $0.exists(Query(where: #Predicate { $0.rank * 2 < 0 })) }),
        ("sum", { _ = try await $0.sum(of: \.rank) }),
        ("maximum", { _ = try await $0.maximum(of: \.rank, Query(where: #Predicate { $0.rank * 2 < 0 })) }),
    ]

    @Test("reads at most a few hundred more objects, and throws that it was cancelled")
    func stops() async throws {
        let folder = TemporaryFolder()
        for engine in Engine.allCases {
            let storage = try await engine.storage(in: folder)
            storage.indexCreation.begin {
                []
            } _: { _ in
            }
            try await storage.store((0..<1_500).map { (CacheKey("\($0)"), Row(rank: $0 + 1)) })
            for query in Self.queries {
                let (started, start) = AsyncStream<Void>.makeStream()
                let task = Task {
                    for await _ in started {}
                    try await query.run(storage)
                }
                Row.state.withLock { $0 = (0, task) }
                start.finish()
                await #expect(throws: CancellationError.self, "\(query.name) \(engine)") { try await task.value }
                #expect(Row.state.withLock { $0.decoded } <= 300, "\(query.name) \(engine)")
                Row.state.withLock { $0 = (0, nil) }
            }
            #expect(try await storage.fetch(Query()).objects.count == 1_500)
        }
    }

    /// A statement that never ends.
    private static let endless =
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"

    @Test("stops within a statement of SQLite, and leaves the connection to others")
    func statement() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("a"))
        try await engine.write(Data([1]), key: CacheKey("a"))
        for _ in 0..<6 {
            let (began, begin) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await engine.core.readUntilCancelled { db, _ in
                    begin.finish()
                    return try Int.fetchOne(db, sql: Self.endless)
                }
            }
            for await _ in began {}
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await engine.fetchAll().count == 1)
        }
        let done = Task {
            try await engine.core.readUntilCancelled { db, _ in try Int.fetchOne(db, sql: "SELECT 1") }
        }
        #expect(try await done.value == 1)
        done.cancel()
        #expect(try await engine.fetchAll().count == 1)
    }

    @Test("creates no index, and writes of others that share the transaction are carried out")
    func indexCreation() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("a"))
        try await engine.write(Data("{}".utf8), key: CacheKey("a"))
        let (began, begin) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await engine.core.writeUntilCancelled { db in
                try db.execute(sql: "CREATE TABLE half (a)")
                begin.finish()
                try db.execute(sql: Self.endless)
            }
        }
        for await _ in began {}
        async let write: Void = engine.write(Data("{}".utf8), key: CacheKey("b"))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await write
        #expect(try await engine.fetchKeys().count == 2)
        #expect(try await engine.core.readMany { db in try !db.tableExists("half") })
    }
}
