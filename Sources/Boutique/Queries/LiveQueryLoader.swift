import Bodega

/// Loads the rows of a query, follows the engine's log, and shows both in the model.
///
///      engine's signals ──► follower ──► catchUp() ──┐
///      loadMore(), reload() ─────────────────────────┼──► lock ──► reader ──► window ──► model
///
/// 1. The follower calls ``catchUp()`` at the beginning and at each signal. It reads all rows, or the changes since the
///    cursor.
/// 2. Reads run one after the other. Each one prepares a ``WindowUpdate`` off the main actor, from a copy of the
///    window, which replaces it when the read has succeeded. The main actor only shows it.
/// 3. If the end of the log can't be read, as while the base of a mirror is away, the rows are shown, and the follower
///    tries again until it knows what to follow.
/// 4. The query owns the loader and ends it. The follower's attempt that is running holds the loader, not the query, so
///    a query that is deallocated ends a read.
///
/// 5. With other stores or windows of the same database, it takes part in their ``SharedTurns``.
///
/// The main actor guards all state. `lock` orders the reads.
@MainActor
final class LiveQueryLoader<Reader: WindowReader>: WindowLoader {
    private let model: LiveQueryModel<Reader.Contents.Item>
    private(set) var reader: Reader
    let log: FollowedLog
    /// Reads of the window run one after the other.
    let lock = AsyncLock()
    private let pageSize: Int
    /// What was read; `nil` before the first read.
    private(set) var contents: Reader.Contents?
    /// The turns of all members of the database, if there is one.
    var turns: SharedTurns?
    /// What is to be shown in a shared turn, and the place in the log before it was read.
    var unshown: (update: WindowUpdate<Reader.Contents>, cursor: StorageCursor)?
    /// The last change of the query.
    private var queryChange: Task<(any Error)?, any Error>?

    nonisolated init(_ reader: Reader, limit: Int, _ model: LiveQueryModel<Reader.Contents.Item>) {
        self.model = model
        self.reader = reader
        pageSize = min(max(limit, 0), maximumWindow)
        log = FollowedLog(reader.logs)
        log.begin("\(LiveQuery<Reader.Contents.Item>.self)") { [weak self] in try await self?.catchUp() }
        log.catchUpSoon()
    }

    /// Stops following. A read of the follower is cancelled.
    nonisolated func end() { log.end() }

    /// The maximum number of items that the window shows.
    var limit: Int { contents?.limit ?? pageSize }

    /// Shows more items.
    func loadMore(_ count: Int?) async throws {
        let count = max(count ?? pageSize, 0)
        try await lock.withLock {
            guard let contents else {
                let limit = pageSize + min(count, maximumWindow - pageSize)
                if try await readAll(showing: limit) != nil { log.catchUpSoon() }
                return
            }
            let update = try await reader.extended(contents, by: count, since: log.cursor)
            if let cursor = log.cursor, await attend(with: update, since: cursor) { return }
            change(to: update).show()
        }
    }

    /// Shows the items of another query, unless a later call of this method cancels it.
    func change(to reader: Reader, limit: Int?) async throws {
        queryChange?.cancel()
        let change = Task {
            try await lock.withLock { try await read(with: reader, showing: limit) }
        }
        queryChange = change
        do {
            let failure = try await withTaskCancellationHandler {
                try await change.value
            } onCancel: {
                change.cancel()
            }
            if failure != nil { log.catchUpSoon() }
        } catch is CancellationError where !Task.isCancelled {
            // The later call decides.
        }
    }

    private func read(with new: Reader, showing limit: Int?) async throws -> (any Error)? {
        let old = reader
        reader = new
        do {
            // Changes after the read must be signaled.
            if !old.others.isEmpty || !new.others.isEmpty { log.follow(reader.logs) }
            return try await readAll(showing: limit.map { min(max($0, 0), maximumWindow) })
        } catch {
            reader = old
            if !old.others.isEmpty || !new.others.isEmpty { log.follow(old.logs) }
            throw error
        }
    }

    /// Reads the items again.
    func reload() async throws {
        do {
            if try await notingFailure({ try await readAll() }) != nil { log.catchUpSoon() }
        } catch {
            // So that the window recovers without another call.
            if !(error is CancellationError) { log.catchUpSoon() }
            throw error
        }
    }

    /// Shows the changes since the last read.
    func catchUp() async throws {
        // The follower tries again until it knows what to follow.
        if let error = try await notingFailure({ try await readChanges() }) { throw error }
    }

    private func notingFailure(_ read: () async throws -> (any Error)?) async throws -> (any Error)? {
        do {
            return try await lock.withLock(read)
        } catch {
            // A caller that stops waiting says nothing about the engine.
            if !(error is CancellationError) { model.fail(error) }
            throw error
        }
    }

    /// - Returns: The error with which the end of the log could not be read. The items are shown nevertheless.
    private func readChanges() async throws -> (any Error)? {
        log.follow()
        if contents != nil, log.cursor == nil {
            // The rows are shown already, so only what to follow is unknown.
            do { _ = try await reader.engine.followedCursor() } catch { return error }
        }
        var failure: (any Error)?
        try await log.catchUp { cursor in
            try await changes(since: cursor)
        } show: { changes, update in
            if changes.maySpanCollections, let turns = sharedTurns {
                await turns.attend(self)
                model.showSuccess()
                return log.cursor
            }
            if let update { change(to: update).show() }
            model.showSuccess()
            return changes.cursor
        } orAll: {
            failure = try await readAll()
        }
        return failure
    }

    /// - Returns: The error with which the end of the log could not be read. The items are shown nevertheless.
    private func readAll(showing limit: Int? = nil) async throws -> (any Error)? {
        joinTurns()
        // Changes between this and the rows are read again, and change nothing then.
        let cursor = await result { try await reader.engine.followedCursor() }
        let update = try await reader.all(limit: limit ?? self.limit, after: contents)
        if case .success(let start?) = cursor, await attend(with: update, since: start) { return nil }
        change(to: update).show()
        log.cursor = nil
        do { log.cursor = try cursor.get() } catch { return error }
        return nil
    }

    /// Returns what was read as a change.
    func change(to update: WindowUpdate<Reader.Contents>) -> ShownChange {
        (model.change(to: update) ?? .none).with { [self] in
            if let contents { releaseElsewhere(contents, count: contents.rowCount) }
            releaseElsewhere(update.events, count: update.events.count)
            contents = update.contents
            contents?.didShow()
        }
    }
}

/// The largest limit of a window, with which no sum overflows.
let maximumWindow = Int.max / 4

/// What loads a window of any query.
@MainActor
protocol WindowLoader: AnyObject, Sendable {
    /// The maximum number of items that the window shows.
    var limit: Int { get }

    /// Stops following. A read of the follower is cancelled.
    nonisolated func end()

    /// Shows more items.
    func loadMore(_ count: Int?) async throws

    /// Reads the items again.
    func reload() async throws

    /// Shows the changes since the last read.
    func catchUp() async throws
}
