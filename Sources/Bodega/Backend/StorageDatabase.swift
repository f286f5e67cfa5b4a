public import Foundation

/// Collections that one batch can change together, such as those of one SQLite file.
///
/// An engine on one of the collections returns it as its ``StorageBackend/database``. Two engines are in the same
/// database if these are the same object.
public protocol StorageDatabase: AnyObject, Sendable {

    /// Applies batches of several collections, in their order: all of them, or none if a condition of any of them is
    /// not met or an error is thrown.
    ///
    /// No reader sees a part of them: a read of several collections from one moment finds all or nothing.
    ///
    /// In the logs, the changes have the ``StorageOrigin/shared`` form of the batches' origins.
    ///
    /// - Parameter parts: The batches, at least one. Several can be of the same collection, but not of the same item.
    /// - Returns: The outcome of each batch.
    /// - Throws: A ``StorageError``.
    func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome]

    /// Runs a closure whose reads of the collections, in its task, answer from one moment.
    ///
    /// Its writes are carried out as usual; its reads don't find them. By default, each read answers from a moment of
    /// its own.
    ///
    /// - Parameter body: The closure. It may run more than once.
    /// - Throws: The error of the closure, or a ``StorageError``.
    func atOneMoment(_ body: @Sendable () async throws -> Void) async throws

    /// Returns the changes of several collections, all from one moment if ``atOneMoment(_:)`` reads from one.
    ///
    /// So a reader of several logs never sees a part of a transaction if it goes on at the cursors of one answer, as
    /// far as the answers have all changes: see ``ChangesRequest/needsItems`` and ``StorageDelta/isComplete``.
    ///
    /// - Parameter requests: The engines, which may be wrapped, and the requests to their logs.
    /// - Returns: The answers, in the same order. One has no value if the log does not reach back to its cursor.
    /// - Throws: A ``StorageError``, with the code ``StorageError/Code/invalidArgument`` if an engine has no log, or is
    ///   not in this database.
    func fetchChanges(
        _ requests: [(engine: any StorageBackend, request: ChangesRequest)]
    ) async throws -> [StorageAnswer<StorageDelta?>]

    /// Prevents a batch with an identifier from being applied later, and returns whether it was applied before.
    ///
    /// It settles a write whose outcome is not known, because its connection was lost: after this call, the batch, or
    /// the group of batches, has either happened or never will. It can be called again, with the same result.
    ///
    /// It holds as long as the receipts are kept, which for a server of the module BodegaServer is an hour: a batch
    /// that was applied longer ago is not found, and one that arrives longer after the call is not stopped. By default,
    /// it throws.
    ///
    /// - Parameter identifier: The identifier of the batch, see ``StorageBatch/identifier``.
    /// - Returns: `true` if the batch was applied; `false` if it never will be.
    /// - Throws: A ``StorageError``, with the code ``StorageError/Code/invalidArgument`` if the database keeps no
    ///   receipts. The outcome is then still not known.
    func fence(_ identifier: UUID) async throws -> Bool
}

extension StorageDatabase {
    public func fetchChanges(
        _ requests: [(engine: any StorageBackend, request: ChangesRequest)]
    ) async throws -> [StorageAnswer<StorageDelta?>] {
        let logs = try requests.map { engine, request in (log: try engine.log(in: self), request: request) }
        let answers = Locked<[StorageAnswer<StorageDelta?>]>([])
        try await atOneMoment {
            answers.withLock { $0 = [] }
            for (log, request) in logs {
                let answer = try await log.fetchChanges(request)
                answers.withLock { $0.append(answer) }
            }
        }
        return answers.withLock { $0 }
    }

    public func fence(_ identifier: UUID) async throws -> Bool {
        throw StorageError(.invalidArgument, "The database keeps no receipts, so it can't fence a batch.")
    }

    public func atOneMoment(_ body: @Sendable () async throws -> Void) async throws { try await body() }
}

extension StorageBackend {
    /// The log of the engine, if it is in a database.
    package func log(in database: any StorageDatabase) throws -> any StorageLog {
        guard let log, self.database === database else {
            throw StorageError(
                .invalidArgument,
                """
                The engine has no log, or is not in this database, so its changes can't be read from one moment with \
                those of others.
                """)
        }
        return log
    }
}

/// The moment from which the reads of a task answer, see ``StorageDatabase/atOneMoment(_:)``.
package final class StorageMoment: Sendable {
    @TaskLocal package static var current: StorageMoment?

    private struct Content: Sendable {
        let database: any StorageDatabase
        let state: any Sendable
    }

    // A structure, because a task that outlives the moment inherits it, and must not keep the database.
    private struct Contents: Sendable {
        var content: Content?
    }

    private let contents: Locked<Contents>

    private init(_ content: Content) { contents = Locked(Contents(content: content)) }

    /// Runs a closure whose reads answer from a moment of a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - state: What the database reads.
    ///   - body: The closure.
    package static func run(
        of database: any StorageDatabase, _ state: any Sendable, _ body: @Sendable () async throws -> Void
    ) async throws {
        let moment = StorageMoment(Content(database: database, state: state))
        defer { moment.contents.withLock { $0.content = nil } }
        try await $current.withValue(moment) { try await body() }
    }

    /// What a database reads at the moment of the task, `nil` if it has none.
    package static func state(of database: any StorageDatabase) -> (any Sendable)? {
        guard let content = current?.contents.withLock({ $0.content }), content.database === database else {
            return nil
        }
        return content.state
    }

    /// Whether the task reads at a moment.
    package static var isCurrent: Bool { current?.contents.withLock { $0.content != nil } ?? false }
}

/// A batch for one of the collections of a ``StorageDatabase``.
public struct StoragePart: @unchecked Sendable {
    // @unchecked because the collection's name is sendable: `AnyHashable` hides that.
    /// The engine on the collection, one whose ``StorageBackend/database`` is its own.
    public var engine: any StorageBackend
    /// What distinguishes the collection from the others of the database.
    public var collection: AnyHashable
    /// The batch, without its ``StorageBatch/group``.
    public var batch: StorageBatch

    /// The keys of the items that the batch reads or changes, `nil` if it changes all.
    var keys: Set<CacheKey>? {
        var keys = Set((batch.conditions ?? []).map(\.key))
        for operation in batch.operations {
            switch operation {
            case .write(let key, _), .remove(let key): keys.insert(key)
            case .removeAll: return nil
            }
        }
        return keys
    }
}
