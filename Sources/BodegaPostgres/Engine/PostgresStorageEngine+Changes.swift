#if Postgres
public import Bodega
import Foundation

extension PostgresStorageEngine: StorageLog {

    public var log: (any StorageLog)? { self }

    public func fetchCursor() async throws -> StorageCursor {
        try await checkExistence()
        return try await database.reading { session in
            let state = try await self.settledState(session)
            return try Self.cursor(state).storageCursor
        }
    }

    /// Reads all items and the end of the log, from one moment.
    func snapshot(_ fields: StorageFields) async throws -> (items: [StorageItem], cursor: StorageCursor) {
        let number = number
        let snapshot = try await database.reading { session in
            _ = try await self.settledState(session)
            let begin = [session.beginSnapshot, Command(ChangeStatements.state)]
            let answers = try await session.run(begin)
            let items = try await ItemScan.run(fields, ofCollection: number, session) { row in
                try row.item(fields)
            }
            _ = try await session.run(session.endSnapshot)
            return (items: items, cursor: try Self.cursor(answers[1]).storageCursor)
        }
        if snapshot.items.isEmpty { try await checkExistence() }
        return snapshot
    }

    public func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        guard let cursor = ChangeCursor(request.cursor) else { return StorageAnswer(nil) }
        let delta: StorageDelta? = try await database.reading { session in
            let commands =
                [session.beginSnapshot] + self.changes(after: cursor) + [self.existence, session.endSnapshot]
            let answers = try await session.run(commands)
            // The snapshot that the follower reads then reports that the collection was removed.
            guard try answers[3].flag(0, 0) else { return nil }
            return try Self.delta(answers[1...2], after: cursor, excluding: request.excluded)
        }
        // In most cases this one message suffices.
        guard request.needsItems, let delta,
            !delta.isComplete || !delta.keysWritten(for: request).isEmpty
        else { return StorageAnswer(delta) }
        return StorageAnswer(try await changesWithItems(request))
    }

    private func changesWithItems(_ request: ChangesRequest) async throws -> StorageDelta? {
        try await database.reading { session in
            _ = try await session.run(session.beginSnapshot)
            let delta = try await StorageDelta.whole(since: request.cursor, excluding: request.excluded) { request in
                try await self.changes(after: request.cursor, excluding: request.excluded, session)
            }
            guard var delta else {
                _ = try await session.run(session.endSnapshot)
                return nil
            }
            let keys = delta.keysWritten(for: request)
            let columns = ItemColumns(request.fields)
            let commands = self.commands(of: keys, columns.statement()) + [session.endSnapshot]
            let answers = try await session.run(commands, patience: self.patience(forItems: keys.count))
            delta.items = try Self.items(answers.dropLast(), under: keys, columns)
            return delta
        }
    }

    /// Signals that there may be changes. Changes of the excluded origin are signaled, too.
    public func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        database.listener.stream(ofCollection: number)
    }

    // MARK: Helpers

    /// Returns the state of the log, after adopting a log that was written in another database.
    private func settledState(_ session: Session) async throws -> QueryResult {
        let command = Command(ChangeStatements.state)
        let state = try await session.run(command)
        try Self.check(state)
        if try state.flag(0, 1) { return state }
        do {
            // A moment begins after the adoption, if that was possible.
            if session.isAtMoment { throw PostgresFailure(.refused(code: "25006"), "The transaction is read-only.") }
            try await LogAdoption.adoptIfNeeded(session)
        } catch let failure as PostgresFailure where failure.forbidsWriting {
            // The transaction numbers are of another server: a follower could receive the same changes forever.
            let message = """
                The log of changes was written in another database, so changes cannot be followed yet. Open the \
                database once as a user who may write to it.
                """
            throw StorageError(.readOnly, message, cause: failure)
        }
        return try await session.run(command)
    }

    /// Checks that the table of settings has the rows on the log.
    private static func check(_ state: QueryResult) throws {
        if state.count == 1, state.bytes(0, 0) != nil, state.bytes(0, 2) != nil { return }
        throw StorageError(
            .damaged,
            """
            The table emporium_meta lacks rows on the log of changes, so changes can't be followed. Items can be read \
            and written. Restore the table from a backup.
            """)
    }

    private static func cursor(_ state: QueryResult) throws -> ChangeCursor {
        try check(state)
        let newestRow = state.bytes(0, 3) == nil ? nil : try state.identifier(0, 3)
        return ChangeCursor(history: try state.text(0, 0), newestRow: newestRow, seen: try state.text(0, 2))
    }

    /// The statements that read the state of the log and the next changes.
    private func changes(after cursor: ChangeCursor) -> [Command] {
        let state = Command(ChangeStatements.stateSince, cursor.seen, cursor.newestRow)
        guard let part = cursor.part else { return [state, Command(ChangeStatements.changes, number, cursor.seen)] }
        return [state, Command(ChangeStatements.changesUpTo, number, cursor.seen, part.upTo, part.lastChange)]
    }

    /// Reads the next changes on a session, see ``delta(_:after:excluding:)``.
    func changes(
        after cursor: StorageCursor, excluding origin: StorageOrigin? = nil, _ session: Session
    ) async throws -> StorageDelta? {
        guard let cursor = ChangeCursor(cursor) else { return nil }
        let answers = try await session.run(changes(after: cursor))
        return try Self.delta(answers[...], after: cursor, excluding: origin)
    }

    /// Decodes the next changes.
    ///
    /// - Returns: The changes; `nil` if the log starts after the cursor or lacks the keys of a removal of all items.
    private static func delta(
        _ answers: ArraySlice<QueryResult>,
        after cursor: ChangeCursor,
        excluding origin: StorageOrigin?
    ) throws -> StorageDelta? {
        let (first, rows) = (answers[answers.startIndex], answers[answers.startIndex + 1])
        let state = try Self.cursor(first)
        guard state.history == cursor.history, try first.flag(0, 1), try first.flag(0, 4) else { return nil }
        var changes: [StorageChange] = []
        var hasForeignChange = origin == nil
        var removesAll = false
        for row in 0..<rows.count {
            let author = StorageOrigin(id: try rows.identifier(row, 1))
            if author != origin { hasForeignChange = true }
            if try rows.flag(row, 4) { removesAll = true }
            for bytes in try rows.array(row, 3) {
                changes.append(StorageChange(key: try ItemKey.key(bytes), kind: .removed, origin: author))
            }
            for bytes in try rows.array(row, 2) {
                changes.append(StorageChange(key: try ItemKey.key(bytes), kind: .written, origin: author))
            }
        }
        if removesAll, hasForeignChange { return nil }
        let upTo = cursor.part?.upTo ?? state.seen
        var next = ChangeCursor(history: state.history, newestRow: state.newestRow, seen: upTo)
        let isWhole = rows.count < ChangeStatements.limit
        if !isWhole {
            next.seen = cursor.seen
            next.part = ChangeCursor.Part(upTo: upTo, lastChange: try rows.number(rows.count - 1, 0))
        }
        return StorageDelta(
            changes: hasForeignChange ? changes : [],
            cursor: next.storageCursor,
            // After the last part, the changes that were committed in the meantime follow.
            isComplete: isWhole && cursor.part == nil
        )
    }
}

extension QueryResult {

    fileprivate func identifier(_ row: Int, _ column: Int) throws -> UUID {
        guard let bytes = bytes(row, column), bytes.count == 16 else { throw Self.malformed }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// Returns the elements of an array.
    fileprivate func array(_ row: Int, _ column: Int) throws -> [UnsafeRawBufferPointer] {
        guard let bytes = bytes(row, column), bytes.count >= 12 else { throw Self.malformed }
        func number(at offset: Int) throws -> Int {
            guard offset + 4 <= bytes.count else { throw Self.malformed }
            return Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        }
        // The number of dimensions, whether it has NULLs, the type; then the dimension's size and first index.
        if try number(at: 0) == 0 { return [] }
        var offset = 20
        return try (0..<number(at: 12)).map { _ in
            let count = try number(at: offset)
            guard count >= 0, offset + 4 + count <= bytes.count else { throw Self.malformed }
            defer { offset += 4 + count }
            return UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + count)])
        }
    }

    private static var malformed: PostgresFailure {
        PostgresFailure(.unexpectedAnswer, "A value in a row of the log is malformed.")
    }
}
#endif
