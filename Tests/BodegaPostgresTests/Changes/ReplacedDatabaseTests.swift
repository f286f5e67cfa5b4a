#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite("An engine whose database is replaced")
struct ReplacedDatabaseTests {

    /// The tables are dropped and created again, or those of an earlier dump are loaded, and another program creates
    /// collections. With the next free numbers, these would be under the number that the engine has.
    @Test("never reads, changes or removes the items of another collection", arguments: [false, true])
    func otherCollections(isRestored: Bool) async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        let program = try await PostgresDatabase(connecting: database.url, options: .patient())
        _ = try await program.collection(named: "first")
        let dump = try await database.server.dump(database.name)
        let engine = try await program.collection(named: "mine")
        try await engine.write(Data("mine".utf8), key: CacheKey("a"))
        _ = try await engine.fetchAll()
        try await database.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        if isRestored { try await database.sql(dump) }
        let other = try await PostgresDatabase(connecting: database.url, options: .patient())
        let names = (0..<4).map { "other \($0)" }
        for name in names {
            try await other.collection(named: name).write(Data("theirs".utf8), key: CacheKey("b"))
        }
        let all = try await other.collectionNames()
        #expect(all == (isRestored ? ["first"] : []) + names)
        await Self.expectRemoval { _ = try await engine.fetchAll() }
        await Self.expectRemoval { _ = try await engine.fetchCount() }
        await Self.expectRemoval { try await engine.write(Data("lost".utf8), key: CacheKey("c")) }
        await Self.expectRemoval { try await engine.removeAllData() }
        for name in names {
            let items = try await other.collection(named: name).fetchAll()
            #expect(items.map(\.data) == [Data("theirs".utf8)])
        }
        // The program goes on with the collection of the new database.
        let again = try await program.collection(named: "mine")
        #expect(try await again.fetchCount() == 0)
        program.disconnect()
        other.disconnect()
    }

    private static func expectRemoval(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("No error was thrown.")
        } catch {
            #expect((error as? StorageError)?.code == .placeRemoved, "\(error)")
        }
    }
}
#endif
