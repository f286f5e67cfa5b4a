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
    func apply(_ operations: [StorageOperation]) async throws {
        try await StorageOrigin.$current.withValue(origin) { try await engine.apply(operations) }
    }
}
