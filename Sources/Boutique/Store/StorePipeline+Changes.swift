import Bodega

extension StorePipeline {

    /// Takes a new origin after a write whose outcome is not known.
    func renewOrigin() {
        records.renewOrigin()
        log.exclude(records.origin)
    }

    /// Restores the records of a failed batch and shows the changes of other origins, in a turn of its own.
    func catchUp() async throws {
        // If the cursor is known, a write reads the changes itself.
        try await perform(
            .exclusive { [self] in try await showChanges() }, canRunUnloaded: true, onlyWhenIdle: log.cursor != nil)
    }

    func showChanges() async throws {
        guard model.state.isLoaded else { return }
        try await resolveFailure()
        if mustReload { await showTogether(try await records.load()) }
        if records.changeLog == nil { return }
        try await log.catchUp { cursor in
            try await records.changes(since: cursor)
        } show: { changes in
            if !changes.hasForeignChanges { return changes.cursor }
            if changes.maySpanCollections, let turns, turns.hasOthers(than: self) {
                await turns.attend(self)
                return log.cursor
            }
            guard let change = await shownChange(changes) else { return nil }
            change.show()
            return log.cursor
        } orAll: {
            await showTogether(try await records.load(needsCursor: true))
        }
    }

    // MARK: Showing

    /// What was loaded or written, and is to be shown together with the changes of other members of the database.
    enum Unshown {
        case records(LoadedRecords<Item>)
        case operations([[StoreChange<Item>]], WrittenOperations<Item>)
    }

    /// Shows the records that were read, together with what other members show.
    func showTogether(_ loaded: LoadedRecords<Item>) async {
        joinTurns()
        if loaded.cursor != nil, await attend(with: .records(loaded)) { return }
        show(loaded)
    }

    /// Shows something together with the changes of other members of the database.
    ///
    /// - Returns: Whether it is shown: if there are no others, or if the changes can't be read, it is not.
    private func attend(with unshown: Unshown) async -> Bool {
        guard let turns, turns.hasOthers(than: self) else { return false }
        self.unshown = unshown
        await turns.attend(self)
        defer { self.unshown = nil }
        return self.unshown == nil
    }

    /// Shows own operations that were written, together with the changes that other origins have made around them.
    ///
    /// Records that the engine has lost on its own are hidden first: it has made room for the operations.
    func show(_ operations: [[StoreChange<Item>]], _ written: WrittenOperations<Item>) async {
        let isFollowing = log.cursor != nil
        let exceptions = written.planner?.exceptions ?? model.exceptions
        let lost = shown(written.lost.keys)
        let operations = lost.isEmpty ? operations : [[.remove(lost)]] + operations
        if isFollowing, let changes = written.changes {
            let mustAttend = changes.maySpanCollections || changes.hasConsequences
            if mustAttend, await attend(with: .operations(operations, written)) { return }
            if !changes.hasForeignChanges {
                log.cursor = changes.cursor
                return await shownChange(operations, exceptions).show()
            }
            if let change = await shownChange(changes, with: operations, exceptions) {
                change.show()
                // The log contains what was evicted, but not what has expired.
                let lost = shown(written.lost.keys)
                if !lost.isEmpty { await shownChange([[.remove(lost)]], model.exceptions).show() }
                if log.cursor == nil { log.catchUpSoon() }
                return
            }
        }
        await shownChange(operations, exceptions).show()
        if isFollowing {
            // The operations are written, but it is not known what other origins have changed.
            log.cursor = nil
            log.catchUpSoon()
        }
    }

    /// The keys of those items that are shown.
    private func shown(_ keys: Set<CacheKey>) -> [CacheKey] {
        keys.filter { model.contents.contains($0) }
    }

    /// Returns the net effect of changes as one change, with which the cursor moves behind them.
    ///
    /// - Parameters:
    ///   - changes: The changes after the cursor.
    ///   - operations: The store's own operations among the changes that are not shown yet.
    ///   - exceptions: The exceptions after these operations, or `nil` if they are unchanged.
    /// - Returns: `nil` if the changes can't be shown. Then, or if the cursor is `nil` afterwards, all records must be
    ///   read.
    private func shownChange(
        _ changes: RecordChanges<Item>,
        with operations: [[StoreChange<Item>]] = [],
        _ exceptions: RecordExceptions? = nil
    ) async -> ShownChange? {
        if model.exceptions.hidePlaces { return nil }
        let exceptions = exceptions ?? model.exceptions
        let count = changes.count + model.contents.changeCount(operations)
        let shown =
            model.contents.isLarge(count)
            ? await changes.preparedShown(after: model.contents, exceptions, with: operations)
            : changes.shown(after: model.contents, exceptions, with: operations)
        guard let shown else { return nil }
        records.log(changes.undecodable)
        let cursor = shown.hasUnknownPlaces ? nil : changes.cursor
        let change = await shownChange([shown.changes], shown.exceptions)
        // Not before that call: it leaves the main actor free, so the release would not wait for this turn.
        releaseElsewhere(changes, count: count)
        releaseElsewhere(shown, count: count)
        return change.with { [log] in log.cursor = cursor }
    }

    /// Returns a change of the items: in place if they are few, otherwise made on a copy off the main actor, which then
    /// only shows the result. Nothing else changes the items in the meantime, because this is the pipeline's turn.
    private func shownChange(
        _ operations: [[StoreChange<Item>]], _ exceptions: RecordExceptions
    ) async -> ShownChange {
        let count = model.contents.changeCount(operations)
        if !model.contents.isLarge(count) { return model.change(operations, exceptions) }
        let prepared = await PreparedChange(
            operations, of: model.contents, exceptions, reportsEvents: model.hasReaders)
        // Not the items, which would be copied by the next change then.
        releaseElsewhere(prepared.events, count: count)
        return model.change(prepared)
    }
}

extension StorePipeline: SharedTurnMember {

    var hasLoaded: Bool { model.state.isLoaded }

    /// Joins the turns of the database, if its logs can be read at one moment.
    private func joinTurns() {
        if turns != nil || records.changeLog == nil { return }
        turns = records.engine.database.map { SharedTurns.of($0) }
        turns?.join(self)
    }

    func takeTurn(_ body: @escaping @MainActor () async -> Void) {
        performLater { [self] in
            _ = await result(resolveFailure)
            await body()
        }
    }

    func catchUpSoon() { log.catchUpSoon() }

    func readChanges() async throws -> ShownChange? {
        if case .records(let loaded) = unshown { return try await readChanges(after: loaded) }
        guard hasLoaded else { return nil }
        var (operations, written): ([[StoreChange<Item>]], WrittenOperations<Item>?) = ([], nil)
        if case .operations(let unshown, let own) = unshown { (operations, written) = (unshown, own) }
        guard !mustReload, let cursor = log.cursor,
            let changes = try await records.changes(
                since: cursor, hasWritten: written != nil, removed: written?.removedKeys)
        else { return try await readAll() }
        if !changes.hasForeignChanges {
            if written != nil { return await shownOperations(upTo: changes.cursor) }
            log.cursor = changes.cursor
            return nil
        }
        let change = await shownChange(changes, with: operations, written?.planner?.exceptions)
        guard let change else { return try await readAll() }
        return change.with { [self] in
            unshown = nil
            if log.cursor == nil { log.catchUpSoon() }
        }
    }

    /// Reads what has changed since records were read that are not shown yet.
    private func readChanges(after loaded: LoadedRecords<Item>) async throws -> ShownChange? {
        guard let cursor = loaded.cursor, let changes = try await records.changes(since: cursor) else {
            return try await readAll()
        }
        var loaded = loaded
        loaded.cursor = changes.cursor
        if changes.hasForeignChanges {
            let shown = changes.shown(after: loaded.contents, loaded.exceptions, with: [])
            guard let shown, !shown.hasUnknownPlaces else { return try await readAll() }
            for change in shown.changes { _ = loaded.contents.apply(change, reportsEvent: false) }
            loaded.exceptions = shown.exceptions
        }
        return replacement(by: loaded)
    }

    /// Returns the store's own operations that are not shown yet as a change, with which the cursor moves.
    func shownOperations(upTo cursor: StorageCursor?) async -> ShownChange {
        guard case .operations(let operations, let written) = unshown else { return .none }
        return await shownChange(operations, written.planner?.exceptions ?? model.exceptions).with { [self] in
            (log.cursor, unshown) = (cursor, nil)
        }
    }

    private func readAll() async throws -> ShownChange? { replacement(by: try await records.load(needsCursor: true)) }

    /// Returns the replacement of all items, with which the cursor moves.
    func replacement(by loaded: LoadedRecords<Item>) -> ShownChange {
        model.replacement(by: loaded).with { [self, cursor = loaded.cursor] in
            (log.cursor, mustReload, unshown) = (cursor, false, nil)
            // If rewriting old records has failed, the store has a new origin.
            log.exclude(records.origin)
        }
    }
}
