#if Postgres
public import Bodega

extension PostgresDatabase: StorageDatabase {

    /// Applies batches of several collections in one transaction: all of them, or none if a condition of any of them is
    /// not met or an error is thrown. See ``/Bodega/StorageDatabase/apply(_:)``.
    ///
    /// A batch with a basis, or with a condition that an item does not exist which it does not write, waits for all
    /// writers of the database, and lets the others wait until it is applied.
    ///
    /// - Parameter parts: The batches, of engines on this database.
    /// - Throws: A ``/Bodega/StorageError``. The outcome is that of one write: see ``PostgresStorageEngine``.
    public func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        let parts = try parts.map { part in
            guard let engine = part.engine as? PostgresStorageEngine, engine.database === self else {
                throw StorageError(.invalidArgument, "The engine is not on a collection of this database.")
            }
            return try engine.part(part.batch, isShared: true)
        }
        guard !parts.isEmpty else { return [] }
        let wasApplied = try await apply(BatchTransaction(parts))
        // Others have logged a change, which they can't in a removed collection, or have found an item.
        for part in parts where !wasApplied || part.plan.isEmpty && part.conditions.allSatisfy({ $0.data == nil }) {
            try await part.engine.checkExistence(isAtMoment: false)
        }
        return parts.map { _ in BatchOutcome(wasApplied: wasApplied) }
    }

    /// Applies a transaction exactly once.
    ///
    /// - Returns: `false` if a condition is not met; nothing is applied then.
    func apply(_ transaction: BatchTransaction) async throws -> Bool {
        if !transaction.isCheck { return try await apply(transaction.write) }
        if !transaction.hasConditions { return true }
        return try await perform { try await transaction.areMet($0) }
    }
}

extension StorageBackend where Self == PostgresStorageEngine {
    /// The database of the engine, whose collections can change together.
    public var database: (any StorageDatabase)? {
        let database: PostgresDatabase = self.database
        return database
    }
}
#endif
