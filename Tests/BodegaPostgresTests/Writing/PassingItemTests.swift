#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite("Batches that write an item and remove it again")
struct PassingItemTests {

    private static let key = CacheKey("passing")
    private static let passage: [StorageOperation] = [.write(key: key, data: Data("1".utf8)), .remove(key: key)]
    private static let held: StorageOperation = .write(key: CacheKey("held"), data: Data("2".utf8))

    /// While the batch waits for an item, another program adds the one that it writes and removes.
    @Test(
        "remove also what another program has added in between",
        arguments: [
            passage + [held], [.remove(key: key)] + passage + [held], [held, .removeAll] + passage,
            passage + [held] + (0..<600).map { .write(key: CacheKey("\($0)"), data: Data()) },
        ])
    func concurrentAddition(_ operations: [StorageOperation]) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        try await engine.write(Data(), key: CacheKey("held"))
        let start = try await engine.fetchCursor()
        let held = try await HeldTransaction(schema)
        try await held.run("SELECT * FROM emporium_items FOR UPDATE")
        async let batch: Void = engine.apply(operations)
        let blocked = """
            SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%emporium_items%'
            AND pid IN (SELECT pid FROM pg_locks WHERE relation = '\(schema.name).emporium_items'::regclass)
            """
        try await waitUntil("the batch waited") { try await schema.sql(blocked) == "1" }
        try await engine.write(Data("other".utf8), key: Self.key)
        try await held.commit()
        try await batch
        // Who follows the changes has what is stored.
        var followed: Set<CacheKey> = [CacheKey("held")]
        for change in try #require(try await engine.fetchAllChanges(since: start, excluding: nil)).changes {
            if change.kind == .removed { followed.remove(change.key) } else { followed.insert(change.key) }
        }
        let stored = Set(try await engine.fetchKeys())
        #expect(followed == stored)
        #expect(!stored.contains(Self.key))
    }
}
#endif
