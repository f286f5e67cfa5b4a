import Bodega
import Foundation

/// Measures an engine with a number of items.
struct EngineRun: Sendable {
    let session: Session
    let subject: Subject
    let place: Place
    let data: Dataset

    /// Measures operations and adds the results.
    func measure(_ operations: [Operation], into result: inout SizeResult) async throws {
        let opened = try await prepared(&result)
        var shares = session.shares(of: data)
        for operation in operations {
            let (measurement, changed) = try await measure(operation, opened, shares)
            result.measurements.append(measurement)
            shares = changed
        }
        try await session.prepare("close", subject, items: data.count) { try await Place.close(opened) }
    }

    /// Writes the items, measures their size on disk, and reopens the engine to check that they are still there.
    private func prepared(_ result: inout SizeResult) async throws -> any StorageEngine {
        let memory = MemoryMark()
        let first = try await opened()
        try await fill(first)
        result.memory = memory.use()
        guard place.isPersistent else { return first }
        try await session.prepare("close", subject, items: data.count) { try await Place.close(first) }
        let medium = try DiskUse(of: place.urls)
        let second = try await opened()
        if medium.files == 0 {
            // The engine stores nothing in its folder, so it need not find the items again.
            if try await count(second) == 0 { try await fill(second) }
            return second
        }
        result.medium = medium
        let found = try await count(second)
        if found != data.count {
            throw EngineFailure(
                engine: subject.name, operation: "open", items: data.count,
                CallFailure(key: nil, message: "after reopening, the engine has \(found) items"))
        }
        return second
    }

    private func opened() async throws -> any StorageEngine {
        try await session.prepare("open", subject, items: data.count) {
            try await place.open(durability: session.plan.durability.forEngines)
        }
    }

    private func count(_ engine: any StorageEngine) async throws -> Int {
        try await session.prepare("count", subject, items: data.count) { try await engine.fetchCount() }
    }

    private func fill(_ engine: any StorageEngine) async throws {
        try await session.prepare("fill", subject, items: data.count) {
            for start in stride(from: 0, to: data.count, by: 1000) {
                session.report(.filling(engine: subject.name, items: data.count, done: start))
                let end = min(start + 1000, data.count)
                try await engine.write((start..<end).map { (data.key($0), data.value($0, revision: 0)) })
            }
            try expect(try await engine.fetchCount(), of: data.count)
        }
    }

    private func measure(
        _ operation: Operation,
        _ engine: any StorageEngine,
        _ shares: [Share]
    ) async throws -> (OperationResult, [Share]) {
        let batch = session.plan.batch
        func measure(_ make: (Share) -> some Workload) async throws -> (OperationResult, [Share]) {
            try await session.measure(operation, subject, items: data.count, shares.map(make))
        }
        switch operation {
        case .write: return try await measure { Writing(engine: engine, share: $0) }
        case .writeBatch: return try await measure { Writing(engine: engine, share: $0, batch: batch) }
        case .update: return try await measure { Updating(engine: engine, share: $0) }
        case .remove: return try await measure { Removing(engine: engine, share: $0) }
        case .removeBatch: return try await measure { Removing(engine: engine, share: $0, batch: batch) }
        case .read: return try await measure { Reading(engine: engine, share: $0) }
        case .readMissing: return try await measure { ReadingMissing(engine: engine, share: $0) }
        case .readBatch: return try await measure { ReadingBatches(engine: engine, share: $0, batch: batch) }
        case .exists: return try await measure { Existing(engine: engine, share: $0) }
        case .mixed: return try await measure { Mixed(engine: engine, share: $0) }
        case .readAll: return try await measure { ReadingAll(engine: engine, share: $0) }
        case .keys: return try await measure { ListingKeys(engine: engine, share: $0) }
        case .count: return try await measure { Counting(engine: engine, share: $0) }
        case .storeInsert, .storeInsertBatch, .storeUpdate, .storeRemove, .storeLookup, .storeLoad:
            preconditionFailure("\(operation) is an operation of stores.")
        }
    }
}
