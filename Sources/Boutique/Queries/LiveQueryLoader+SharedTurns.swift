import Bodega

/// What a window has to show together with other windows and stores of its database.
extension LiveQueryLoader: SharedTurnMember {

    var hasLoaded: Bool { contents != nil }

    /// Joins the turns of the database, if its logs can be read at one moment.
    func joinTurns() {
        if turns != nil || reader.engine.log == nil { return }
        turns = reader.engine.database.map { SharedTurns.of($0) }
        turns?.join(self)
    }

    /// The turns of the database, if others take part in them.
    var sharedTurns: SharedTurns? { turns.flatMap { $0.hasOthers(than: self) ? $0 : nil } }

    /// Shows what was read together with the changes of others.
    ///
    /// - Parameters:
    ///   - update: What was read.
    ///   - cursor: The place in the log before it was read.
    /// - Returns: Whether it is shown: if there are no others, or if the changes can't be read, it is not.
    func attend(with update: WindowUpdate<Reader.Contents>, since cursor: StorageCursor) async -> Bool {
        guard let turns = sharedTurns else { return false }
        unshown = (update, cursor)
        await turns.attend(self)
        defer { unshown = nil }
        return unshown == nil
    }

    func takeTurn(_ body: @escaping @MainActor () async -> Void) {
        Task { try await lock.withLock { await body() } }
    }

    func catchUpSoon() { log.catchUpSoon() }

    func readChanges() async throws -> ShownChange? {
        guard let read = unshown?.update.contents ?? contents else { return nil }
        guard let start = unshown?.cursor ?? log.cursor, let changes = try await reader.changes(since: start, in: read)
        else {
            let cursor = try await reader.engine.followedCursor()
            return shown(try await reader.all(limit: read.limit, after: contents), upTo: cursor)
        }
        if changes.isEmpty, unshown == nil {
            log.cursor = changes.cursor
            return nil
        }
        return shown(try await reader.update(read, with: changes, after: contents), upTo: changes.cursor)
    }

    /// Returns what was read as a change, with which the cursor moves.
    private func shown(_ update: WindowUpdate<Reader.Contents>, upTo cursor: StorageCursor?) -> ShownChange {
        change(to: update).with { [self] in (log.cursor, unshown) = (cursor, nil) }
    }

    /// Reads the changes since a cursor, and the rows that follow from them, unless others have to show them, too.
    ///
    /// - Returns: `nil` if all rows must be read.
    func changes(since cursor: StorageCursor) async throws -> (WindowChanges, WindowUpdate<Reader.Contents>?)? {
        guard let contents else { return nil }
        let areShared = sharedTurns != nil
        guard let database = sharedTurns?.database ?? reader.database else {
            return try await reader.changes(of: contents, since: cursor, areShared: false)
        }
        // Later changes, which the rows would contain otherwise, may concern others, or the other engines of the rows.
        return try await database.answering { [reader] in
            try await reader.changes(of: contents, since: cursor, areShared: areShared)
        }
    }
}

extension WindowReader {
    /// Reads the changes since a cursor, and the rows of a window that follow from them.
    ///
    /// - Parameters:
    ///   - contents: The window.
    ///   - cursor: The cursor.
    ///   - areShared: Whether changes that may span collections are shown together with others, so that their rows are
    ///     not read.
    /// - Returns: `nil` if all rows must be read.
    fileprivate func changes(
        of contents: Contents, since cursor: StorageCursor, areShared: Bool
    ) async throws -> (WindowChanges, WindowUpdate<Contents>?)? {
        guard let changes = try await changes(since: cursor, in: contents) else { return nil }
        if changes.isEmpty || areShared && changes.maySpanCollections { return (changes, nil) }
        return (changes, try await update(contents, with: changes, after: contents))
    }
}
