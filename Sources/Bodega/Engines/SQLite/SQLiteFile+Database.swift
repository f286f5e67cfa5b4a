import Foundation

extension SQLiteFile: StorageDatabase {

    package func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        let parts = try parts.map { part in
            guard let engine = part.engine as? SQLiteStorageEngine, engine.core === self else {
                throw StorageError(.invalidArgument, "The engine is not on a collection of this file.", file: url)
            }
            return (engine: engine, batch: part.batch)
        }
        let changes = parts.map { engine, batch in
            let origin = (batch.origin ?? engine.currentOrigin).shared
            var batch = batch
            batch.origin = origin
            return (
                table: engine.table, origin: origin,
                removing: batch.heedsReferences ? Removing(batch.operations, at: engine.now()) : nil,
                work: engine.work(for: batch)
            )
        }
        let commits = try await write(changes) { db in
            try parts.allSatisfy { engine, batch in try engine.allows(batch, in: db) }
        }
        guard let commits else { return parts.map { _ in BatchOutcome(wasApplied: false) } }
        if parts.contains(where: { $0.batch.endsByRemovingAll }) { await vacuumIfQuick() }
        return commits.map { BatchOutcome(commit: $0) }
    }
}
