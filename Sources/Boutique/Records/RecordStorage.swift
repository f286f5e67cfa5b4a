import Bodega

/// A store's records: reads, encodes and writes them, off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageEngine
    let coding: RecordCoding<Item>
    /// The engine, if it tells what changes in it.
    let observableEngine: (any ObservableStorageEngine)?
    private let currentOrigin = Locked(StorageOrigin())

    init(engine: any StorageEngine, coding: RecordCoding<Item>) {
        self.engine = engine
        self.coding = coding
        observableEngine = engine as? any ObservableStorageEngine
    }

    /// What tells the store's own changes from those of others.
    var origin: StorageOrigin { currentOrigin.withLock { $0 } }

    /// Takes a new origin, after a write whose outcome is not known. If the engine applies it late, it is the change of
    /// another origin, and is shown like any other.
    func renewOrigin() {
        currentOrigin.withLock { $0 = StorageOrigin() }
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
