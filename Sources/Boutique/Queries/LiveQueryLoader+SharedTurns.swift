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
    func attend(with update: WindowUpdate<Item>, since cursor: StorageCursor) async -> Bool {
        guard let turns = sharedTurns else { return false }
        unshown = (update, cursor)
        await turns.attend(self)
        defer { unshown = nil }
        return unshown == nil
    }

    func takeTurn(of turns: SharedTurns) {
        Task { try await lock.withLock { await turns.answer(self) } }
    }

    func catchUpSoon() { log.catchUpSoon() }

    func readChanges() async throws -> ShownChange? {
        guard let read = unshown?.update.contents ?? contents else { return nil }
        guard let cursor = unshown?.cursor ?? log.cursor, let changes = try await reader.changes(since: cursor) else {
            let cursor = try await reader.cursor()
            return shown(try await reader.all(limit: read.window.limit, after: contents), upTo: cursor)
        }
        if changes.keys.isEmpty, unshown == nil {
            log.cursor = changes.cursor
            return nil
        }
        return shown(try await reader.update(read, with: changes, after: contents), upTo: changes.cursor)
    }

    /// Returns what was read as a change, with which the cursor moves.
    private func shown(_ update: WindowUpdate<Item>, upTo cursor: StorageCursor?) -> ShownChange {
        change(to: update).with { [self] in (log.cursor, unshown) = (cursor, nil) }
    }

    /// Reads the changes since a cursor, and the rows that follow from them, unless others have to show them, too.
    ///
    /// - Returns: `nil` if all rows must be read.
    func changes(
        since cursor: StorageCursor
    ) async throws -> (QueryReader<Item>.Changes, WindowUpdate<Item>?)? {
        guard let contents else { return nil }
        guard let turns = sharedTurns else { return try await reader.changes(of: contents, since: cursor) }
        let found = Locked(Found())
        // Later changes, which the rows would contain otherwise, may concern others.
        try await turns.database.atOneMoment { [reader] in
            let read = try await reader.changes(of: contents, since: cursor, areShared: true)
            found.withLock { $0.read = read }
        }
        return found.withLock { $0.read }
    }

    private struct Found {
        var read: (QueryReader<Item>.Changes, WindowUpdate<Item>?)?
    }
}

extension QueryReader {
    /// Reads the changes since a cursor, and the rows of a window that follow from them.
    ///
    /// - Parameters:
    ///   - contents: The window.
    ///   - cursor: The cursor.
    ///   - areShared: Whether changes that may span collections are shown together with others, so that their rows are
    ///     not read.
    /// - Returns: `nil` if all rows must be read.
    fileprivate func changes(
        of contents: WindowContents<Item>, since cursor: StorageCursor, areShared: Bool = false
    ) async throws -> (Changes, WindowUpdate<Item>?)? {
        guard let changes = try await changes(since: cursor) else { return nil }
        if changes.keys.isEmpty || areShared && changes.maySpanCollections { return (changes, nil) }
        return (changes, try await update(contents, with: changes, after: contents))
    }
}
