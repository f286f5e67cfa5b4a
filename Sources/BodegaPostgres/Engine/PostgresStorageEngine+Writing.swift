#if Postgres
import Bodega
import Foundation
import Logging

extension PostgresStorageEngine {

    /// A write or removal of one item, or a batch. It is applied all or nothing.
    enum Change: Sendable {
        case one(WritePlan.Row)
        /// The row's data are those of the file.
        case stream(StreamFile, WritePlan.Row)
        case removal(ItemKey)
        case many(WritePlan, if: [StorageCondition] = [])
        /// The removal of the collection with all items.
        case collectionRemoval

        /// The approximate number of rows that it adds to the log.
        fileprivate var rowsInLog: Int {
            if case .many(let plan, _) = self { 1 + plan.steps.count / 1_000 } else { 1 }
        }

        /// Whether it logs its request only after it has locked all rows that it changes. A batch that removes all
        /// items and then writes some logs the removal first.
        fileprivate var locksFirst: Bool {
            if case .many(let plan, _) = self { !plan.removesAll || plan.written.isEmpty } else { true }
        }
    }

    /// Applies a change exactly once, also over lost connections.
    ///
    /// All attempts log the change under the same identifier, which is unique in the log. So an attempt after one with
    /// an unknown outcome waits for that one, or finds it applied. If all attempts fail, the ``WriteFence`` prevents
    /// them from being applied later.
    ///
    /// - Parameters:
    ///   - key: The key to name in an error.
    ///   - author: The origin of the change; `nil` for that of the task, or else that of the engine.
    /// - Returns: `false` if a condition of the change is not met; nothing is applied then.
    @discardableResult
    func apply(_ change: Change, key: CacheKey? = nil, by author: StorageOrigin? = nil) async throws -> Bool {
        try checkSizes(change)
        let request = ChangeRequest(collection: number, origin: (author ?? StorageOrigin.current ?? origin).id)
        if case .many(let plan, let conditions) = change, plan.isEmpty, conditions.isEmpty { return true }
        let deadline = PostgresDeadline.after(database.options.timeout)
        var unsettled = WriteFence.UnsettledWrite(request: request, locksFirst: change.locksFirst)
        var areConditionsMet = true
        do {
            try await database.fence.pass(number, until: deadline)
            areConditionsMet = try await database.attempt(until: deadline) { session, attempt in
                unsettled.backends.append(session.backend)
                do {
                    switch change {
                    case .one(let row): try await write(row, request, session)
                    case .stream(let file, let row): try await write(file, row, request, session)
                    case .removal(let key): try await remove(key, request, session)
                    case .collectionRemoval: try await removeCollection(request, session)
                    case .many(let plan, let conditions):
                        guard try await apply(plan, if: conditions, request, session, attempt) else {
                            unsettled.backends.removeLast()
                            return false
                        }
                    }
                } catch let failure as PostgresFailure where attempt > 0 && failure.isRepeatedRequest {
                    try await waitForStandbys(request, session)
                } catch let failure as PostgresFailure where failure.isRolledBack {
                    unsettled.backends.removeLast()
                    throw failure
                }
                return true
            }
        } catch {
            _ = try await settle(unsettled, after: error, key: key)
        }
        // An earlier attempt with an unknown outcome may be the one that has changed the items.
        if !areConditionsMet, try await !settle(unsettled, after: nil, key: key) { return false }
        database.announcer.announce(changeOf: number)
        database.trimmer.count(change.rowsInLog)
        return true
    }

    /// How long a failed write may take to determine whether it was applied, in seconds.
    private static let timeToSettle: TimeInterval = 5

    /// Determines whether one of the attempts of a write was applied, and prevents all from being applied later.
    ///
    /// - Parameter error: The error of the write; `nil` if its last attempt found a condition that is not met.
    /// - Throws: The error, unless the write was applied, or that of an outcome that is unknown or not replicated.
    private func settle(
        _ write: WriteFence.UnsettledWrite, after error: (any Error)?, key: CacheKey?
    ) async throws -> Bool {
        if write.backends.isEmpty {
            guard let error else { return false }
            let wasSent = (error as? PostgresFailure)?.code != nil
            throw StorageError.postgres(error, key: key, wasSent ? nil : "Nothing was changed.")
        }
        switch await outcome(of: write) {
        case .neverApplied:
            guard let error else { return false }
            throw StorageError.postgres(error, key: key, "Nothing was changed.")
        case .unknown:
            guard let error else { throw StorageError(.timedOut, Self.isUnknown, key: key) }
            throw StorageError.postgres(error, key: key, Self.isUnknown)
        case .applied(let failure?):
            bodegaLogger.debug("A write was applied, but may not be replicated.", metadata: ["error": "\(failure)"])
            throw StorageError.postgres(error ?? failure, key: key, Self.mayBeUnreplicated)
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
    private func outcome(of write: WriteFence.UnsettledWrite) async -> Outcome {
        let limit = PostgresDeadline.after(min(Self.timeToSettle, database.options.timeout))
        switch await database.fence.settle(write, until: limit) {
        case .neverApplied: return .neverApplied
        case .unknown: return .unknown
        case .applied:
            do {
                // In a new task, as the current one may have been cancelled.
                try await Task {
                    try await database.attempt(until: limit) { session, _ in
                        try await waitForStandbys(write.request, session, patience: limit.remaining)
                    }
                }.value
                return .applied(nil)
            } catch {
                return .applied(error)
            }
        }
    }

    private func write(_ row: WritePlan.Row, _ request: ChangeRequest, _ session: Session) async throws {
        let command = Command(ItemStatements.write, parameters(of: row, data: row.data, request))
        _ = try await session.run(command)
    }

    /// The parameters of a statement that writes an item and logs the change.
    ///
    /// - Parameter data: The item, `nil` if the statement has it already.
    func parameters(of row: WritePlan.Row, data: Data?, _ request: ChangeRequest) -> Parameters {
        var parameters = Parameters(
            capacity: (data?.count ?? 0) + 256, row.key.shard, number, row.key.bytes, row.key.long, row.created,
            row.updated, request.origin, request.identifier, row.key.full)
        if let data { parameters.append(data) }
        return parameters
    }

    private func remove(_ key: ItemKey, _ request: ChangeRequest, _ session: Session) async throws {
        let command = Command(
            ItemStatements.remove, key.shard, number, key.bytes, request.origin, request.identifier, key.full)
        _ = try await session.run(command)
    }

    /// The first attempt in which a batch that removes locks the table.
    private static let firstAttemptWithLock = 3

    /// - Returns: `false` if a condition is not met; the transaction is rolled back then.
    private func apply(
        _ plan: WritePlan, if conditions: [StorageCondition], _ request: ChangeRequest, _ session: Session,
        _ attempt: Int
    ) async throws -> Bool {
        let count = plan.removesAll ? try await self.count(session) : 0
        let patience = patience(forItems: plan.written.count + plan.removed.count + conditions.count + count)
        var batch = BatchCommands(plan: plan, request: request, locksTable: attempt >= Self.firstAttemptWithLock)
        if !conditions.isEmpty {
            guard try await begin(batch, if: conditions, session, patience), !plan.isEmpty else {
                try await session.run(.rollback, patience: patience)
                return plan.isEmpty
            }
            batch.isBegun = true
        } else if batch.mayCopy, try await copy(plan, batch, session, patience) {
            return true
        }
        if plan.removed.isEmpty {
            _ = try await session.run(batch.all, patience: patience)
        } else {
            let answers = try await session.run(batch.beginning, patience: patience)
            _ = try await session.run(batch.rest(present: batch.present(in: answers)), patience: patience)
        }
        return true
    }

    /// Begins a transaction, and checks conditions in it whose items no other writer changes before it ends.
    ///
    /// Items that exist are locked, which suffices for a batch that only writes. Absent items can't be locked. If the
    /// batch writes them, it fails in a SERIALIZABLE transaction when another writer has added them, and is repeated.
    /// Otherwise the whole table is locked.
    ///
    /// - Returns: Whether all conditions are met.
    private func begin(
        _ batch: BatchCommands, if conditions: [StorageCondition], _ session: Session, _ patience: TimeInterval
    ) async throws -> Bool {
        let absent = Set(conditions.filter { $0.data == nil }.map { ItemKey($0.key, in: shards).full })
        let areAllWritten = absent.isSubset(of: batch.plan.written.map(\.key.full))
        var commands = [batch.removes || !absent.isEmpty ? Command(BatchCommands.beginSerializable) : Command.begin]
        if !areAllWritten || batch.locksTable { commands.append(Command(ItemStatements.lockTable)) }
        // In lock order.
        let conditions = conditions.map { ($0, ItemKey($0.key, in: shards)) }.sorted { $0.1 < $1.1 }.map(\.0)
        let beginning = commands.count
        commands += self.commands(of: conditions.map(\.key), ItemStatements.lockedDataOfMany)
        let answers = try await session.run(commands, patience: patience)
        let found = try Self.values(answers.dropFirst(beginning)) { _, rows, row in try rows.data(row, 1) }
        let data = Dictionary(found.map { ($0.index, $0.value) }) { $1 }
        return conditions.indices.allSatisfy { conditions[$0].data == data[$0] }
    }

    /// Commits an empty request and waits for the synchronous standbys. They then also have the change of an earlier
    /// attempt, which was committed without waiting.
    private func waitForStandbys(
        _ request: ChangeRequest, _ session: Session, patience: TimeInterval? = nil
    ) async throws {
        if session.isInTransaction { try await session.run(.rollback, patience: patience) }
        let nothing = ChangeRequest(collection: request.collection, origin: request.origin)
        let commands = BatchCommands(plan: WritePlan(), request: nothing, locksTable: false).all
        _ = try await session.run(commands, patience: patience)
    }

    // MARK: Bulk writes

    /// Writes new items by `COPY`, which is the fastest way but can't overwrite.
    ///
    /// - Returns: `false`, with nothing changed, if some of the items exist.
    private func copy(
        _ plan: WritePlan, _ batch: BatchCommands, _ session: Session, _ patience: TimeInterval
    ) async throws -> Bool {
        let sample = stride(from: 0, to: plan.written.count, by: max(1, plan.written.count / 64))
        let begin = ItemStatements.beginBulk.command(collection: self.number, sample.map { plan.written[$0].key })
        let state = try await session.run(batch.beginning + [begin], patience: patience)
        guard let answer = state.last else { throw PostgresFailure.noResult }
        let number: Int64 = try answer.number(0, 0)
        do {
            if try answer.flag(0, 1) {
                try await session.run(.rollback, patience: patience)
                return false
            }
            try await session.copy(
                ItemCopy.sql, from: ItemCopy(plan.written, request: batch.request, batch: number), patience: patience)
        } catch let failure as PostgresFailure where failure.code == "23505" {
            // The sample missed an existing item, or another writer has added one since.
            try await session.run(.rollback, patience: patience)
            return false
        }
        _ = try await session.run(batch.ending(present: batch.present(in: state.dropLast())), patience: patience)
        return true
    }

    // MARK: Limits

    private func checkSizes(_ change: Change) throws {
        switch change {
        case .one(let row): try Self.checkSize(row)
        case .stream(let file, let row): try Self.checkSize(row, dataCount: file.count)
        case .removal, .collectionRemoval: return
        case .many(let plan, _):
            if plan.written.count > ItemStatements.placesPerBatch {
                let message = """
                    The batch writes \(plan.written.count) items, and the limit is \(ItemStatements.placesPerBatch). \
                    Divide the batch.
                    """
                throw StorageError(.tooLarge, message)
            }
            for row in plan.written { try Self.checkSize(row) }
        }
    }

    private static func checkSize(_ row: WritePlan.Row, dataCount: Int? = nil) throws {
        // Messages to the server and values are limited to a gigabyte, and the values of an item share a message. A
        // dump writes each byte as two characters.
        let size = (dataCount ?? row.data.count) + (row.key.long?.count ?? 0)
        guard size <= largestItem else {
            let message = "An item has \(size) bytes with its key, and the limit is \(largestItem). Divide the item."
            throw StorageError(.tooLarge, message)
        }
    }

    private static let largestItem = 500_000_000
}

extension PostgresFailure {
    /// Whether the log already has the request, so that the change was applied.
    fileprivate var isRepeatedRequest: Bool {
        code == "23505" && constraint == "emporium_changes_request"
    }
}
#endif
