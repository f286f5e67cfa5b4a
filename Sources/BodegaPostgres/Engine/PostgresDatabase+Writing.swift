#if Postgres
import Bodega
import Foundation
import Logging

extension PostgresDatabase {

    /// Changes of one or several collections in one transaction, which is applied all or nothing.
    struct Write: Sendable {
        /// The request that it logs; one of them if it changes several collections.
        let request: ChangeRequest
        /// The collections that it reads or changes.
        let collections: Set<Int32>
        let changedCollections: Set<Int32>
        /// Whether it logs the request only after it has locked all rows that it changes.
        let locksFirst: Bool
        /// The approximate number of rows that it adds to the log.
        let rowsInLog: Int
        /// Applies it, and returns `false` if a condition is not met; the transaction is rolled back then. So it is if
        /// it throws ``/Bodega/StorageError/Code/referenced``.
        let apply:
            @Sendable (_ session: Session, _ attempt: Int, _ consequences: WriteConsequences) async throws -> Bool
    }

    /// Applies a write exactly once, also over lost connections.
    ///
    /// All attempts log the change under the same identifiers, which are unique in the log. So an attempt after one
    /// with an unknown outcome waits for that one, or finds it applied. If all attempts fail, the ``WriteFence``
    /// prevents them from being applied later.
    ///
    /// - Parameter key: The key to name in an error.
    /// - Returns: `false` if a condition of the write is not met; nothing is applied then.
    func apply(_ write: Write, key: CacheKey? = nil) async throws -> Bool {
        let deadline = PostgresDeadline.after(options.timeout)
        var unsettled = WriteFence.UnsettledWrite(
            request: write.request, locksFirst: write.locksFirst, collections: write.collections)
        var areConditionsMet = true
        let consequences = WriteConsequences()
        do {
            try await fence.pass(write.collections, until: deadline)
            areConditionsMet = try await attempt(until: deadline) { session, attempt in
                unsettled.backends.append(session.backend)
                do {
                    let areMet = try await write.apply(session, attempt, consequences)
                    if !areMet { unsettled.backends.removeLast() }
                    return areMet
                } catch let failure as PostgresFailure where attempt > 0 && failure.isRepeatedRequest {
                    try await waitForStandbys(write.request, session)
                    return true
                } catch let failure as PostgresFailure where failure.isRolledBack {
                    unsettled.backends.removeLast()
                    throw failure
                } catch let error as StorageError where error.code == .referenced {
                    unsettled.backends.removeLast()
                    throw error
                }
            }
        } catch {
            let limit = PostgresDeadline.after(min(Self.timeToSettle, options.timeout))
            _ = try await settle(unsettled, after: error, key: key, until: limit)
        }
        // An earlier attempt with an unknown outcome may be the one that has changed the items.
        if !areConditionsMet {
            let limit = max(deadline, .after(Self.timeToSettle))
            guard try await settle(unsettled, after: nil, key: key, until: limit) else { return false }
        }
        announcer.announce(changesOf: write.changedCollections.union(consequences.collections))
        trimmer.count(write.rowsInLog + consequences.rowsInLog)
        return true
    }

    /// How long a failed write may take to determine whether it was applied, in seconds.
    private static let timeToSettle: TimeInterval = 5

    /// Determines whether one of the attempts of a write was applied, and prevents all from being applied later.
    ///
    /// - Parameters:
    ///   - error: The error of the write; `nil` if its last attempt found a condition that is not met.
    ///   - limit: The deadline.
    /// - Throws: The error, unless the write was applied, or that of an outcome that is unknown or not replicated. A
    ///   `CancellationError` means that nothing was changed.
    private func settle(
        _ write: WriteFence.UnsettledWrite, after error: (any Error)?, key: CacheKey?, until limit: PostgresDeadline
    ) async throws -> Bool {
        if write.backends.isEmpty {
            guard let error else { return false }
            let wasSent = (error as? PostgresFailure)?.code != nil
            throw StorageError.postgres(error, key: key, wasSent ? nil : "Nothing was changed.")
        }
        switch await outcome(of: write, until: limit) {
        case .neverApplied:
            guard let error else { return false }
            throw StorageError.postgres(error, key: key, "Nothing was changed.")
        case .unknown:
            guard let error, !(error is CancellationError) else {
                throw StorageError(.timedOut, Self.isUnknown, key: key, cause: error)
            }
            throw StorageError.postgres(error, key: key, Self.isUnknown)
        case .applied(let failure?):
            bodegaLogger.debug("A write was applied, but may not be replicated.", metadata: ["error": "\(failure)"])
            let cause = error is CancellationError ? failure : error ?? failure
            throw StorageError.postgres(cause, key: key, Self.mayBeUnreplicated)
        case .applied(nil): return true
        }
    }

    private static let isUnknown =
        "Whether the write was applied is not known yet. The next write waits until it is known."
    private static let mayBeUnreplicated = "The write was applied, but may not be on the standby."

    private enum Outcome {
        /// It was applied. The error says why it may not be on the standby.
        case applied((any Error)?)
        case neverApplied
        case unknown
    }

    /// Determines the outcome of the failed attempts of a write, and waits for the standby if one was applied.
    private func outcome(of write: WriteFence.UnsettledWrite, until limit: PostgresDeadline) async -> Outcome {
        switch await fence.settle(write, until: limit) {
        case .neverApplied: return .neverApplied
        case .unknown: return .unknown
        case .applied:
            do {
                // In a new task, as the current one may have been cancelled.
                try await Task {
                    try await attempt(until: limit) { session, _ in
                        try await waitForStandbys(write.request, session, patience: limit.remaining)
                    }
                }.value
                return .applied(nil)
            } catch {
                return .applied(error)
            }
        }
    }

    /// Commits an empty request and waits for the synchronous standbys. They then also have the change of an earlier
    /// attempt, which was committed without waiting.
    private func waitForStandbys(
        _ request: ChangeRequest, _ session: Session, patience: TimeInterval? = nil
    ) async throws {
        if session.isInTransaction { try await session.run(.rollback, patience: patience) }
        let nothing = ChangeRequest(collection: request.collection, origin: request.origin)
        let commands = [.begin] + BatchCommands(plan: WritePlan(), request: nothing).changes(present: []) + [.commit]
        _ = try await session.run(commands, patience: patience)
    }
}

extension PostgresFailure {
    /// Whether the log already has the request, so that the change was applied.
    fileprivate var isRepeatedRequest: Bool {
        code == "23505" && constraint == "emporium_changes_request"
    }
}
#endif
