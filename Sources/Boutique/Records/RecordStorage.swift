import Bodega

/// A store's records: reads, encodes and writes them, off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageEngine
    let coding: RecordCoding<Item>
    /// The engine, if it tells what changes in it.
    let observableEngine: (any ObservableStorageEngine)?
    /// What tells the store's own changes from those of others.
    let origin = StorageOrigin()

    init(engine: any StorageEngine, coding: RecordCoding<Item>) {
        self.engine = engine
        self.coding = coding
        observableEngine = engine as? any ObservableStorageEngine
    }

    /// Applies operations as the store's own.
    ///
    /// - Returns: Where in the engine's history they are, if that is known.
    @discardableResult
    func apply(_ operations: [StorageOperation]) async throws -> StorageCommit? {
        try await StorageOrigin.$current.withValue(origin) {
            if let engine = engine as? any CommitTellingStorageEngine { return try await engine.commit(operations) }
            try await engine.apply(operations)
            return nil
        }
    }
}
