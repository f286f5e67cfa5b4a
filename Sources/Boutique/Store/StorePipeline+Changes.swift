import Bodega
import Logging

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

    private func showChanges() async throws {
        guard model.state.isLoaded else { return }
        try await resolveFailure()
        if mustReload { show(try await records.load()) }
        if records.changeLog == nil { return }
        try await log.catchUp { cursor in
            try await records.changes(since: cursor)
        } show: { changes in
            if !changes.hasForeignChanges { return changes.cursor }
            return await show(changes) ? log.cursor : nil
        } orAll: {
            show(try await records.load(needsCursor: true))
        }
    }

    // MARK: Showing

    /// Shows own operations that were written, together with the changes that other origins have made around them.
    ///
    /// Records that the engine has lost on its own are hidden first: it has made room for the operations.
    func show(_ operations: [[StoreChange<Item>]], _ written: WrittenOperations<Item>) async {
        let isFollowing = log.cursor != nil
        let exceptions = written.planner?.exceptions ?? model.exceptions
        let lost = shown(written.lost.keys)
        let operations = lost.isEmpty ? operations : [[.remove(lost)]] + operations
        if isFollowing, let changes = written.changes {
            if !changes.hasForeignChanges {
                log.cursor = changes.cursor
                return await apply(operations, exceptions)
            }
            if await show(changes, with: operations, exceptions) {
                // The log contains what was evicted, but not what has expired.
                let lost = shown(written.lost.keys)
                if !lost.isEmpty { await apply([[.remove(lost)]], model.exceptions) }
                if log.cursor == nil { log.catchUpSoon() }
                return
            }
        }
        await apply(operations, exceptions)
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

    /// Shows the net effect of changes as one change.
    ///
    /// - Parameters:
    ///   - changes: The changes after the cursor.
    ///   - operations: The store's own operations among the changes that are not shown yet.
    ///   - exceptions: The exceptions after these operations, or `nil` if they are unchanged.
    /// - Returns: Whether the changes could be shown. If not, or if the cursor is `nil` then, all records must be read.
    private func show(
        _ changes: RecordChanges<Item>,
        with operations: [[StoreChange<Item>]] = [],
        _ exceptions: RecordExceptions? = nil
    ) async -> Bool {
        if model.exceptions.hidePlaces { return false }
        let exceptions = exceptions ?? model.exceptions
        let count = changes.count + model.contents.changeCount(operations)
        let shown =
            model.contents.isLarge(count)
            ? await changes.preparedShown(after: model.contents, exceptions, with: operations)
            : changes.shown(after: model.contents, exceptions, with: operations)
        guard let shown else { return false }
        records.log(changes.undecodable)
        await apply([shown.changes], shown.exceptions)
        log.cursor = shown.hasUnknownPlaces ? nil : changes.cursor
        releaseElsewhere(changes, count: count)
        return true
    }

    /// Applies changes to the items: in place if they are few, otherwise to a copy off the main actor, which then only
    /// shows the result. Nothing else changes the items in the meantime, because this is the pipeline's turn.
    private func apply(_ operations: [[StoreChange<Item>]], _ exceptions: RecordExceptions) async {
        let count = model.contents.changeCount(operations)
        if !model.contents.isLarge(count) { return model.apply(operations, exceptions) }
        let prepared = await PreparedChange(
            operations, of: model.contents, exceptions, reportsEvents: model.hasReaders)
        // Not the items, which would be copied by the next change then.
        releaseElsewhere(prepared.events, count: count)
        model.apply(prepared)
    }
}
