import Bodega
import Boutique
import Foundation

/// Measures a store on an engine with a number of items.
struct StoreRun: Sendable {
    let session: Session
    let subject: Subject
    let place: Place
    let data: Dataset

    /// Measures operations and adds the results.
    func measure(_ operations: [Operation], into result: inout SizeResult) async throws {
        let engine = try await session.prepare("open", subject, items: data.count) {
            try await place.open(durability: session.plan.durability.forEngines)
        }
        let store = try await filled(engine)
        var shares = session.shares(of: data)
        for operation in operations {
            let (measurement, changed) = try await measure(operation, store, engine, shares)
            result.measurements.append(measurement)
            shares = changed
        }
        try await session.prepare("close", subject, items: data.count) { try await Place.close(engine) }
    }

    private func filled(_ engine: any StorageEngine) async throws -> Store<Note> {
        try await session.prepare("fill the store", subject, items: data.count) {
            let store = try await Store<Note>(storage: engine)
            for start in stride(from: 0, to: data.count, by: 1000) {
                session.report(.filling(engine: subject.name, items: data.count, done: start))
                let end = min(start + 1000, data.count)
                try await store.insert((start..<end).map { data.note($0, revision: 0) })
            }
            try expect(await store.items.count, of: data.count)
            return store
        }
    }

    private func measure(
        _ operation: Operation,
        _ store: Store<Note>,
        _ engine: any StorageEngine,
        _ shares: [Share]
    ) async throws -> (OperationResult, [Share]) {
        let batch = session.plan.batch
        func measure(_ make: (Share) -> some Workload) async throws -> (OperationResult, [Share]) {
            try await session.measure(operation, subject, items: data.count, shares.map(make))
        }
        switch operation {
        case .storeInsert:
            return try await measure { InsertingNotes(store: store, engine: engine, share: $0) }
        case .storeInsertBatch:
            return try await measure { InsertingNotes(store: store, engine: engine, share: $0, batch: batch) }
        case .storeUpdate: return try await measure { UpdatingNotes(store: store, share: $0) }
        case .storeRemove: return try await measure { RemovingNotes(store: store, share: $0) }
        case .storeLookup: return try await measure { LookingUpNotes(store: store, share: $0) }
        case .storeLoad: return try await measure { LoadingNotes(engine: engine, share: $0) }
        default: preconditionFailure("\(operation) is an operation of engines.")
        }
    }
}
