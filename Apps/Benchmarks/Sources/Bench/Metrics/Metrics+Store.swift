import BenchHarness
import Bodega
import Boutique
import Foundation

// A store is bound to the main actor. So both sides start from there, and await the same number of calls sequentially.
extension Metrics {
    static let store = storeInserts + storeScale + storeLoads + storeTurns + storeRemovals + storeLookups

    /// The number of single operations of a run.
    static let singles = 200

    /// Calls a closure with a store on a database of its own that contains the first people.
    @MainActor
    static func withStore<Result>(
        _ plan: Plan,
        holding count: Int,
        durability: StorageDurability = .full,
        _ work: (FilledStore) async throws -> Result
    ) async throws -> Result {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(
                opening: FileManager.Directory(url: folder), durability: durability)
            let store = try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
            for part in People.parts(of: count) { try await store.insert(People.make(part)) }
            return try await work(FilledStore(store: store, engine: engine))
        }
    }

    /// Calls a closure with an engine on a database of its own that contains the records of the first people.
    @MainActor
    static func withEngine<Result>(
        _ plan: Plan,
        holding count: Int,
        durability: StorageDurability = .full,
        _ work: (SQLiteStorageEngine) async throws -> Result
    ) async throws -> Result {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(
                opening: FileManager.Directory(url: folder), durability: durability)
            for part in People.parts(of: count) { try await engine.write(People.records(of: People.make(part))) }
            return try await work(engine)
        }
    }
}

/// A store and the engine under it.
@MainActor
struct FilledStore {
    let store: Store<Person>
    let engine: SQLiteStorageEngine

    /// The time to insert new people individually. They are removed afterwards, so that the size stays.
    func timeOfInserts(_ people: [Person]) async throws -> Duration {
        let before = store.count
        let time = try await timed { for person in people { try await store.insert(person) } }.time
        try await verifyCount(before + people.count)
        try await store.remove(people)
        return time
    }

    /// The time to change people individually.
    func timeOfUpdates(_ ids: [String]) async throws -> Duration {
        let before = ids.map { store[$0]?.age }
        let time = try await timed { for id in ids { try await store.update(id: id) { $0.age += 1 } } }.time
        try verify(ids.map { store[$0]?.age }, equals: before.map { $0.map { $0 + 1 } }, "the changed ages")
        return time
    }

    /// Verifies the number of people in the store and in its engine.
    func verifyCount(_ expected: Int) async throws {
        try verify(store.count, equals: expected, "people in the store")
        try await verify(engine.fetchCount(), equals: expected, "people in the store's engine")
    }
}
