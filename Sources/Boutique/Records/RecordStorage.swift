import Bodega
import Logging

/// The records of a store. It reads, decodes, encodes and writes them off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageEngine
    let coding: RecordCoding<Item>
    /// The engine, if it has a log of its changes.
    let observableEngine: (any ObservableStorageEngine)?
    let commitReportingEngine: (any CommitReportingStorageEngine)?
    let logger: Logger
    /// The records that expire.
    let expiringRecords = ExpiringRecords()
    private let currentOrigin = Locked(StorageOrigin.random())

    init(engine: any StorageEngine, coding: RecordCoding<Item>, logger: Logger = boutiqueLogger) {
        self.engine = engine
        self.coding = coding
        self.logger = logger
        observableEngine = engine as? any ObservableStorageEngine
        commitReportingEngine = engine as? any CommitReportingStorageEngine
    }

    /// Whether operations of the engine do not end early when their task is cancelled.
    var ignoresCancellation: Bool { commitReportingEngine != nil }

    /// The origin of the store's own changes.
    var origin: StorageOrigin { currentOrigin.withLock { $0 } }

    /// Takes a new origin, after a write whose outcome is not known. If the engine applies that write later, it is a
    /// foreign change, and is shown like any other.
    func renewOrigin() {
        currentOrigin.withLock { $0 = StorageOrigin() }
    }

    /// Logs records that can't be decoded, for programs that don't read ``Store/undecodable``.
    func log(_ undecodable: [StorageError]) {
        // A change of the items' type may make all records undecodable.
        let limit = 100
        for error in undecodable.prefix(limit) {
            logger.error(
                "A record can't be decoded. It stays stored and is reported in Store.undecodable.",
                metadata: [
                    "items": "\(Item.self)", "key": "\(error.key.map { "\($0)" } ?? "")",
                    // The engine's own errors say more than their causes.
                    "error": "\(error.code == .decodingFailed ? error.cause ?? error : error)",
                ]
            )
        }
        if undecodable.count > limit {
            logger.error(
                "More records can't be decoded. They stay stored and are reported in Store.undecodable.",
                metadata: ["items": "\(Item.self)", "count": "\(undecodable.count - limit)"]
            )
        }
    }

    /// Applies operations with the store's origin.
    ///
    /// - Parameter call: Learns which records the engine removes in addition.
    /// - Returns: The place of the operations in the engine's log, if it is known.
    @discardableResult
    func apply(_ operations: [StorageOperation], in call: InnerCall = InnerCall()) async throws -> StorageCommit? {
        try await StorageOrigin.$current.withValue(origin) {
            // Such an engine removes nothing on its own.
            if let commitReportingEngine { return try await commitReportingEngine.commit(operations) }
            try await call { try await engine.apply(operations) }
            return nil
        }
    }
}
