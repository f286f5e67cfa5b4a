import Bodega
import Logging

/// A store's records: reads, encodes and writes them, off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageEngine
    let coding: RecordCoding<Item>
    /// The engine, if it tells what changes in it.
    let observableEngine: (any ObservableStorageEngine)?
    private let logger: Logger
    private let currentOrigin = Locked(StorageOrigin())

    init(engine: any StorageEngine, coding: RecordCoding<Item>, logger: Logger = boutiqueLogger) {
        self.engine = engine
        self.coding = coding
        self.logger = logger
        observableEngine = engine as? any ObservableStorageEngine
    }

    /// What tells the store's own changes from those of others.
    var origin: StorageOrigin { currentOrigin.withLock { $0 } }

    /// Takes a new origin, after a write whose outcome is not known. If the engine applies it late, it is the change of
    /// another origin, and is shown like any other.
    func renewOrigin() {
        currentOrigin.withLock { $0 = StorageOrigin() }
    }

    /// Logs records that can't be decoded: a program that doesn't look at ``Store/undecodable`` would miss them silently.
    func log(_ undecodable: [StorageError]) {
        // A type that has changed may make all records undecodable.
        let limit = 100
        for error in undecodable.prefix(limit) {
            logger.error(
                "A record can't be decoded. It stays stored, and is not among the items of the store.",
                metadata: [
                    "items": "\(Item.self)", "key": "\(error.key.map { "\($0)" } ?? "")",
                    "error": "\(error.cause ?? error)",
                ]
            )
        }
        if undecodable.count > limit {
            logger.error(
                "More records can't be decoded. They stay stored, and are not among the items of the store.",
                metadata: ["items": "\(Item.self)", "count": "\(undecodable.count - limit)"]
            )
        }
    }

    /// Applies operations as the store's own.
    ///
    /// - Returns: Where in the engine's history they are, if that is known.
    @discardableResult
    func apply(_ operations: [StorageOperation]) async throws -> StorageCommit? {
        try await StorageOrigin.$current.withValue(origin) {
            if let engine = engine as? any CommitReportingStorageEngine { return try await engine.commit(operations) }
            try await engine.apply(operations)
            return nil
        }
    }
}
