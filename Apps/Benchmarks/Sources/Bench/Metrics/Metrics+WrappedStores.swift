import BenchHarness
import Bodega
import Boutique
import Foundation
import Logging

extension Metrics {
    /// Single inserts into a store on a wrapper around SQLite, compared with one on SQLite alone, both without syncs.
    static let wrappedStores =
        inserts("logged") { $0.logged(by: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }) }
        + inserts("cached") { $0.cached() }
        + inserts("expiring") { $0.expiring(after: .seconds(86_400)) }
        + inserts("encrypted") { $0.encrypted(with: EncryptionKeyset()) }
        // Their writes can end early when the task is cancelled, so that a store does not let its caller make them.
        + inserts("retrying", maximum: 1.5) { $0.retrying() }
        + inserts("prefixed", maximum: 1.5) { $0.prefixed("people") }
        + inserts("limited", maximum: 1.5) { $0.limited(count: 10_000_000) }
        + inserts("mirrored", maximum: 1.5) { $0.mirrored(to: MemoryStorageEngine()) }

    private static func inserts(
        _ name: String, maximum: Double = 1.3, _ wrap: @escaping @MainActor (SQLiteStorageEngine) -> any StorageEngine
    ) -> [Metric] {
        [
            Metric("wrapper.\(name).store.insert", baseline: "a store on SQLite alone", maximum: maximum) { plan in
                try await compareInserts(plan, wrap)
            }
        ]
    }

    @MainActor
    private static func compareInserts(
        _ plan: Plan, _ wrap: @MainActor (SQLiteStorageEngine) -> any StorageEngine
    ) async throws -> Outcome {
        let count = plan.size(1_000)
        let new = People.make(count..<count + plan.size(1_000))
        return try await plan.scratch.withFolder { folder in
            func store(_ name: String, _ wrap: @MainActor (SQLiteStorageEngine) -> any StorageEngine) async throws
                -> FilledStore
            {
                let engine = try SQLiteStorageEngine(
                    opening: FileManager.Directory(url: folder.appendingPathComponent(name)), durability: .relaxed)
                let store = try await Store<Person>(storage: wrap(engine), cacheIdentifier: \.id.uuidString)
                try await store.insert(People.make(0..<count))
                return FilledStore(store: store, engine: engine)
            }
            let (wrapped, alone) = (try await store("wrapped", wrap), try await store("alone") { $0 })
            return try await compare(
                items: new.count,
                runs: plan.runs,
                ours: { try await wrapped.timeOfInserts(new) },
                baseline: { try await alone.timeOfInserts(new) }
            )
        }
    }
}
