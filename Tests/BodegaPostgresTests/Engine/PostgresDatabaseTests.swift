#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// What followers of several collections of a PostgreSQL database rely on.
@Suite
struct PostgresDatabaseTests {

    private static let key = Collections.key

    @Test("Followers of all collections of a transaction are woken")
    func signals() async throws {
        let collections = try await Collections()
        let other = try await Collections(collections.schema)
        var iterators: [AsyncStream<Void>.Iterator] = []
        var cursors: [StorageCursor] = []
        for engine in other.engines {
            cursors.append(try await engine.fetchCursor())
            iterators.append(engine.changeSignals(excluding: nil).makeAsyncIterator())
        }
        try await Collections.write(1, collections.engines)
        for index in 0..<2 {
            var changes: [StorageChange] = []
            while changes.isEmpty, await iterators[index].next() != nil {
                let delta = try await other.engines[index].fetchChanges(ChangesRequest(since: cursors[index])).value
                changes = try #require(delta).changes
            }
            #expect(changes.map(\.key) == [Self.key])
        }
    }

    @Test("The log says which changes belong to a transaction, and excludes an origin in both forms")
    func sharedOrigins() async throws {
        let collections = try await Collections()
        let (left, right) = (collections.left, collections.right)
        let start = try await left.fetchCursor()
        let origin = StorageOrigin()
        _ = try await left.apply(StorageBatch([.write(key: Self.key, data: Data())], origin: origin))
        try await Collections.write(1, [left, right], by: origin)
        try await Collections.write(2, [left, right])
        let changes = try #require(try await left.fetchChanges(ChangesRequest(since: start)).value).changes
        #expect(changes.map { $0.origin?.isShared } == [false, true, true])
        #expect(changes.map { $0.origin == origin } == [true, true, false])
        let own = try await left.fetchCursor()
        try await Collections.write(3, [left, right], by: origin)
        for needsItems in [false, true] {
            let request = ChangesRequest(since: own, excluding: origin, needsItems: needsItems)
            let none = try #require(try await left.fetchChanges(request).value)
            #expect(none.changes.isEmpty && none.items.isEmpty && none.cursor != own)
        }
    }

    @Test("A batch is applied only if nothing was changed since its basis")
    func basis() async throws {
        let collections = try await Collections()
        let (left, right) = (collections.left, collections.right)
        for engines in [[left], [left, right]] {
            let basis = try await [left.fetchCursor(), right.fetchCursor()]
            #expect(try await Collections.write(1, engines, basis: basis))
            #expect(try await !Collections.write(2, engines, basis: basis))
            #expect(try await left.fetch(key: Self.key) == Collections.data(1))
            // A change of one of them suffices, and one of another collection does not matter.
            let next = try await [left.fetchCursor(), right.fetchCursor()]
            try await collections.database.collection(named: "other").write(Data(), key: Self.key)
            try await engines[engines.count - 1].write(Collections.data(3), key: CacheKey("b"))
            #expect(try await !Collections.write(4, engines, basis: next))
            // Nor does a batch that changes nothing, of which there can be many.
            for _ in 0..<250 { try await left.remove(key: CacheKey("none")) }
            let last = try await [left.fetchCursor(), right.fetchCursor()]
            for _ in 0..<250 { try await left.remove(key: CacheKey("none")) }
            #expect(try await Collections.write(5, engines, basis: last))
            #expect(try await !Collections.write(6, engines, basis: [StorageCursor(rawValue: "invalid")]))
            // A batch that only checks, and one that only removes.
            var check = StorageBatch([])
            check.basis = last[0]
            #expect(try await !left.apply(check).value.wasApplied)
            check.basis = try await left.fetchCursor()
            #expect(try await left.apply(check).value.wasApplied)
            check.operations = [.remove(key: Self.key)]
            #expect(try await left.apply(check).value.wasApplied)
            #expect(try await !left.apply(check).value.wasApplied)
        }
    }
}
#endif
