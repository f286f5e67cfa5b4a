import Bodega
import Foundation
import Logging

/// The records of a store. It reads, decodes, encodes and writes them off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageBackend
    let coding: RecordCoding<Item>
    /// The log of the engine's changes, if it has one.
    let changeLog: (any StorageLog)?
    /// What the engine does on its own, and how its operations end.
    let traits: StorageTraits
    let logger: Logger
    /// The records that expire.
    let expiringRecords = ExpiringRecords()
    /// Declares the references of the items' type.
    let referenceDeclaration: ReferenceDeclaration
    private let currentOrigin = Locked(StorageOrigin.random())

    init(engine: any StorageEngine, coding: RecordCoding<Item>, logger: Logger = boutiqueLogger) {
        self.engine = engine.backend
        self.coding = coding
        referenceDeclaration = ReferenceDeclaration(
            of: Item.self, codedBy: coding.coder, isMigrated: coding.migration != nil)
        self.logger = logger
        changeLog = self.engine.log
        traits = self.engine.traits
    }

    /// Whether operations of the engine do not end early when their task is cancelled.
    var ignoresCancellation: Bool { traits.contains(.ignoresCancellation) }

    /// What to read of records.
    var fields: StorageFields { traits.contains(.expires) ? [.data, .expiry] : .data }

    /// How to read records: those that can't be read are reported.
    var options: ReadOptions { ReadOptions(omitsUnreadable: true) }

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

    /// Reads records.
    ///
    /// - Returns: The records that exist, and an error with its key for each that the engine can't read, for example
    ///   because it can't be decrypted.
    func fetch(
        _ keys: [CacheKey]
    ) async throws -> (records: [(key: CacheKey, data: Data)], unreadable: [StorageError]) {
        let answer = try await engine.fetch(FetchRequest(keys, options: options))
        return (answer.value.map { ($0.key, $0.data) }, answer.report.unreadable)
    }

    /// Applies operations with the store's origin.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - basis: The end that the log must have, see `StorageBatch.basis`; `nil` if it may have any.
    @discardableResult
    func apply(
        _ operations: [StorageOperation], basis: StorageCursor? = nil
    ) async throws -> StorageAnswer<BatchOutcome> {
        var batch = StorageBatch(operations, origin: origin)
        batch.basis = basis
        let answer = try await engine.apply(batch)
        if answer.value.wasApplied { note(answer, of: operations) }
        return answer
    }

    /// Notes when written records expire.
    func note(_ answer: StorageAnswer<BatchOutcome>, of operations: [StorageOperation]) {
        if let expiry = answer.value.expiry {
            for case .write(let key, _) in operations { expiringRecords.note(key, expiry) }
        }
    }
}
