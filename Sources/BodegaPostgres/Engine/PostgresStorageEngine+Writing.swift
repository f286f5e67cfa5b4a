#if Postgres
import Bodega
import Foundation
import Logging

extension PostgresStorageEngine {

    /// Something to be written, all or nothing.
    enum Change: Sendable {
        case one(WritePlan.Row)
        case removal(ItemKey)
        case many(WritePlan)

        /// About the number of rows that it adds to the log.
        fileprivate var rowsInLog: Int {
            if case .many(let plan) = self { 1 + plan.steps.count / 1_000 } else { 1 }
        }
    }

    /// Applies a change, once, whatever happens to the connection in the meantime.
    ///
    /// Each attempt notes the change under the same identifier, which can stand there only once. So an attempt that
    /// comes after one whose outcome is not known either waits for that one, or finds that it is done. If all fail, the
    /// ``WriteFence`` keeps them from being applied later.
    func apply(_ change: Change, key: CacheKey? = nil) async throws {
        try checkSizes(change)
        let request = ChangeRequest(
            collection: number, origin: (StorageOrigin.current ?? origin).id, identifier: .timeOrdered())
        if case .many(let plan) = change, plan.isEmpty { return }
        let deadline = PostgresDeadline.after(database.options.timeout)
        var doubt = WriteFence.Doubt(request: request)
        do {
            try await database.fence.pass(number, until: deadline)
            try await database.attempt(until: deadline) { session, attempt in
                doubt.backends.append(session.backend)
                do {
                    switch change {
                    case .one(let row): try await write(row, request, session)
                    case .removal(let key): try await remove(key, request, session)
                    case .many(let plan): try await apply(plan, request, session, attempt)
                    }
                } catch let failure as PostgresFailure where attempt > 0 && failure.isRepeatedRequest {
                    try await waitForStandbys(request, session)
                } catch let failure as PostgresFailure where failure.code != nil && !failure.endsConnection {
                    // The server has rolled this attempt back.
                    doubt.backends.removeLast()
                    throw failure
                }
            }
        } catch {
            try await settle(doubt, after: error, key: key)
        }
        database.announcer.announce(changeOf: number)
        database.trimmer.count(change.rowsInLog)
    }

    /// How long a write that has failed may take to find out whether it was applied, in seconds.
    private static let timeToSettle: TimeInterval = 5

    /// Makes sure that a write that has failed was applied or never will be.
    ///
    /// - Throws: The error, unless it was applied.
    private func settle(_ doubt: WriteFence.Doubt, after error: any Error, key: CacheKey?) async throws {
        if doubt.backends.isEmpty { throw StorageError.postgres(error, key: key) }
        let limit = PostgresDeadline.after(min(Self.timeToSettle, database.options.timeout))
        switch await database.fence.settle(doubt, until: limit) {
        case .neverApplied:
            throw StorageError.postgres(error, key: key, "Nothing was changed.")
        case .unknown:
            let message = "Whether the write was applied is not known yet. The next write waits until it is."
            throw StorageError.postgres(error, key: key, message)
        case .applied:
            do {
                try await database.attempt(until: limit) { session, _ in
                    try await waitForStandbys(doubt.request, session)
                }
            } catch let failure {
                bodegaLogger.debug("A write is not known to be replicated.", metadata: ["error": "\(failure)"])
                throw StorageError.postgres(error, key: key, "The write was applied, but may not be replicated.")
            }
        }
    }

    private func write(_ row: WritePlan.Row, _ request: ChangeRequest, _ session: Session) async throws {
        var parameters = Parameters(capacity: row.data.count + 256)
        parameters.append(row.key.shard)
        parameters.append(number)
        parameters.append(row.key.bytes)
        if let long = row.key.long { parameters.append(long) } else { parameters.appendNull() }
        parameters.append(row.created)
        parameters.append(row.updated)
        parameters.append(row.data)
        parameters.append(request.origin)
        parameters.append(request.identifier)
        parameters.append(row.key.full)
        _ = try await session.run(Command(ItemStatements.write, parameters), patience: database.options.timeout)
    }

    private func remove(_ key: ItemKey, _ request: ChangeRequest, _ session: Session) async throws {
        var parameters = Parameters()
        parameters.append(key.shard)
        parameters.append(number)
        parameters.append(key.bytes)
        parameters.append(request.origin)
        parameters.append(request.identifier)
        parameters.append(key.full)
        _ = try await session.run(Command(ItemStatements.remove, parameters), patience: database.options.timeout)
    }

    /// From this attempt on, nobody else may write while a batch that removes is applied.
    private static let firstAttemptAlone = 3

    private func apply(_ plan: WritePlan, _ request: ChangeRequest, _ session: Session, _ attempt: Int) async throws {
        let count = plan.removesAll ? try await self.count(session) : 0
        let patience = patience(forItems: plan.written.count + plan.removed.count + count)
        let batch = BatchCommands(plan: plan, request: request, isAlone: attempt >= Self.firstAttemptAlone)
        if batch.mayCopy, try await copy(plan, batch, session, patience) { return }
        if plan.removed.isEmpty {
            _ = try await session.run(batch.all, patience: patience)
        } else {
            let answers = try await session.run(batch.beginning, patience: patience)
            _ = try await session.run(batch.rest(present: batch.present(in: answers)), patience: patience)
        }
    }

    /// Commits something else, so that a change of an attempt before, which the server has, is also where the server
    /// lets commits wait for: nobody waited for that one.
    private func waitForStandbys(_ request: ChangeRequest, _ session: Session) async throws {
        if session.isInTransaction { try await rollBack(session, database.options.timeout) }
        let nothing = ChangeRequest(
            collection: request.collection, origin: request.origin, identifier: .timeOrdered())
        let commands = BatchCommands(plan: WritePlan(), request: nothing, isAlone: false).all
        _ = try await session.run(commands, patience: database.options.timeout)
    }

    // MARK: Bulk writes

    /// Writes items that are new by `COPY`, which is faster than anything else but can't overwrite.
    ///
    /// - Returns: `false`, with nothing changed, if some are there already.
    private func copy(
        _ plan: WritePlan,
        _ batch: BatchCommands,
        _ session: Session,
        _ patience: TimeInterval
    ) async throws -> Bool {
        let sample = stride(from: 0, to: plan.written.count, by: max(1, plan.written.count / 64))
        let begin = ItemStatements.beginBulk.command(collection: self.number, sample.map { plan.written[$0].key })
        let state = try await session.run(batch.beginning + [begin], patience: patience)
        guard let answer = state.last else { throw PostgresFailure(.unexpectedAnswer, "A statement has no result.") }
        let number: Int64 = try answer.number(0, 0)
        do {
            if try answer.flag(0, 1) {
                try await rollBack(session, patience)
                return false
            }
            try await session.copy(
                ItemCopy.sql, from: ItemCopy(plan.written, request: batch.request, batch: number), patience: patience)
        } catch let failure as PostgresFailure where failure.code == "23505" {
            // The sample missed one, or somebody else has written one since.
            try await rollBack(session, patience)
            return false
        }
        _ = try await session.run(batch.ending(present: batch.present(in: state)), patience: patience)
        return true
    }

    private func rollBack(_ session: Session, _ patience: TimeInterval) async throws {
        _ = try await session.run(Command(Statement("ROLLBACK")), patience: patience)
    }

    // MARK: Limits

    private func checkSizes(_ change: Change) throws {
        switch change {
        case .one(let row): try Self.checkSize(row)
        case .removal: return
        case .many(let plan):
            if plan.written.count > ItemStatements.placesPerBatch {
                let message = "A batch can write \(ItemStatements.placesPerBatch) items. Write several batches."
                throw StorageError(.tooLarge, message)
            }
            for row in plan.written { try Self.checkSize(row) }
        }
    }

    private static func checkSize(_ row: WritePlan.Row) throws {
        // A message to the server, and a value there, can have a gigabyte, and the values of an item share a message.
        guard row.data.count + (row.key.long?.count ?? 0) <= largestItem else {
            throw StorageError(.tooLarge, "An item can have \(largestItem) bytes with its key. Divide it.")
        }
    }

    private static let largestItem = 500_000_000
}

/// Under what the change of an attempt to write is noted.
struct ChangeRequest: Sendable {
    var collection: Int32
    var origin: UUID
    var identifier: UUID
}

extension PostgresFailure {
    /// Whether the change was noted before, and so applied.
    fileprivate var isRepeatedRequest: Bool {
        code == "23505" && constraint == "emporium_changes_request"
    }
}

extension UUID {
    /// An identifier that nobody else makes. Later ones are larger, so that an index grows at its end (RFC 9562,
    /// version 7).
    fileprivate static func timeOrdered() -> UUID {
        var bytes = UUID().uuid
        let milliseconds = UInt64(Date().timeIntervalSince1970 * 1000)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index)) }
            bytes[6] = 0x70 | bytes[6] & 0x0F
        }
        return UUID(uuid: bytes)
    }
}
#endif
