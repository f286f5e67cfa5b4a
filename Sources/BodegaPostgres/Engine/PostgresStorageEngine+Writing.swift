#if Postgres
import Bodega
import Foundation

extension PostgresStorageEngine {

    /// A write or removal of one item, which is one statement, a large item, or the removal of the collection.
    enum Change: Sendable {
        case one(WritePlan.Row)
        /// The row's data are those of the file.
        case stream(StreamFile, WritePlan.Row)
        case removal(ItemKey)
        /// The removal of the collection with all items.
        case collectionRemoval
    }

    /// Applies a change exactly once, see ``PostgresDatabase/apply(_:key:)``.
    ///
    /// - Parameters:
    ///   - key: The key to name in an error.
    ///   - author: The origin of the change; `nil` for that of the task, or else that of the engine.
    func apply(_ change: Change, key: CacheKey? = nil, by author: StorageOrigin? = nil) async throws {
        switch change {
        case .one(let row): try Self.checkSize(row)
        case .stream(let file, let row): try Self.checkSize(row, dataCount: file.count)
        case .removal, .collectionRemoval: break
        }
        let request = request(by: author)
        let write = PostgresDatabase.Write(
            request: request, collections: [number], changedCollections: [number], locksFirst: true, rowsInLog: 1
        ) { session, attempt, consequences in
            switch change {
            case .one(let row): try await self.write(row, request, session)
            case .stream(let file, let row): try await self.write(file, row, request, session)
            case .removal(let key):
                if try await self.remove(key, request, session) { break }
                let part = BatchPart(self, WritePlan(removing: key), request: request)
                return try await BatchTransaction([part]).apply(session, attempt, consequences)
            case .collectionRemoval: try await self.removeCollection(request, session, consequences)
            }
            return true
        }
        _ = try await database.apply(write, key: key)
    }

    /// The part of a transaction that applies a batch.
    ///
    /// - Parameter isShared: Whether the transaction has parts of several batches.
    func part(_ batch: StorageBatch, isShared: Bool) throws -> BatchPart {
        let plan = WritePlan(batch, in: shards, at: ItemDate.number(of: now()))
        if plan.written.count > ItemStatements.placesPerBatch {
            let message = """
                The batch writes \(plan.written.count) items, and the limit is \(ItemStatements.placesPerBatch). \
                Divide the batch.
                """
            throw StorageError(.tooLarge, message)
        }
        for row in plan.written { try Self.checkSize(row) }
        return BatchPart(
            self, plan, if: batch.conditions ?? [], basis: batch.basis,
            request: request(by: batch.origin, isShared: isShared))
    }

    private func request(by author: StorageOrigin?, isShared: Bool = false) -> ChangeRequest {
        let origin = author ?? StorageOrigin.current ?? origin
        return ChangeRequest(collection: number, origin: (isShared ? origin.shared : origin).id)
    }

    /// Returns whether the collection has not changed since the end of the log at a cursor.
    func isEnd(_ basis: StorageCursor, _ session: Session) async throws -> Bool {
        var next = basis
        while true {
            guard let delta = try await changes(after: next, session), delta.changes.isEmpty else { return false }
            if delta.isComplete { return true }
            next = delta.cursor
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

    /// - Returns: `false`, with nothing done, if references lead to the collection.
    private func remove(_ key: ItemKey, _ request: ChangeRequest, _ session: Session) async throws -> Bool {
        let command = Command(
            ItemStatements.remove, key.shard, number, key.bytes, request.origin, request.identifier, key.full,
            ReferenceMarks.mark(ofCollection: collectionName))
        return try await session.run(command).count > 0
    }

    // MARK: Limits

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
#endif
