import Bodega

/// Loads the rows of a query, follows the engine's log, and shows both in the model.
///
///      engine's signals ──► follower ──► catchUp() ──┐
///      loadMore(), reload() ─────────────────────────┼──► lock ──► reader ──► window ──► model
///
/// 1. The follower calls ``catchUp()`` at the beginning and at each signal. It reads all rows, or the changes since the
///    cursor.
/// 2. Reads run one after the other. Each one changes a copy of the window, which replaces it when the read has
///    succeeded.
/// 3. The query owns the loader and ends it. The follower's attempt that is running holds the loader, not the query, so
///    a query that is deallocated ends a read.
///
/// The main actor guards all state. `lock` orders the reads.
@MainActor
final class LiveQueryLoader<Item: StorableItem> {
    private let model: LiveQueryModel<Item>
    private let reader: QueryReader<Item>
    private let follower = ChangeFollower()
    /// Reads of the window run one after the other.
    private let lock = AsyncLock()
    private let pageSize: Int
    /// The rows that are shown, and those in reserve; `nil` before the first read.
    private(set) var window: QueryWindow<Item>?
    /// The place in the log up to which changes are shown; `nil` if the rows must be read again.
    private var cursor: StorageCursor?
    /// The index whose order the rows have.
    private var index: StorageIndex?
    private var errors: [CacheKey: StorageError] = [:]

    nonisolated init(
        _ query: Query<Item>, in storage: ObjectStorage<Item>, limit: Int, _ model: LiveQueryModel<Item>
    ) {
        self.model = model
        reader = QueryReader(storage: storage, query: query)
        pageSize = min(max(limit, 0), QueryWindow<Item>.maximumLimit)
        follower.begin("\(LiveQuery<Item>.self)", logger: boutiqueLogger) { [weak self] in try await self?.catchUp() }
        if let engine = storage.storage as? any ObservableStorageEngine {
            follower.follow(engine.changeSignals())
        }
        follower.catchUp()
    }

    /// Stops following. A read of the follower is cancelled.
    nonisolated func end() { follower.end() }

    /// The maximum number of items that the window shows.
    var limit: Int { window?.limit ?? pageSize }

    /// Shows more items.
    func loadMore(_ count: Int?) async throws {
        let count = max(count ?? pageSize, 0)
        try await lock.withLock {
            guard var window else {
                return try await readAll(showing: pageSize + min(count, QueryWindow<Item>.maximumLimit - pageSize))
            }
            window.extend(by: count)
            try await fill(&window)
            show(window)
        }
    }

    /// Reads the items again.
    func reload() async throws {
        try await lock.withLock { try await readAll() }
    }

    /// Shows the changes since the last read.
    func catchUp() async throws {
        do {
            try await lock.withLock { try await readChanges() }
        } catch {
            // A caller that stops waiting says nothing about the engine.
            if !(error is CancellationError) { model.fail(error) }
            throw error
        }
    }

    private func readChanges() async throws {
        guard var window, let cursor, let changes = try await reader.changes(since: cursor) else {
            return try await readAll()
        }
        if !changes.keys.isEmpty {
            var undecodable: [StorageError] = []
            // The rows that do not belong to the window are dropped before the next ones are read.
            for keys in changes.parts {
                let part = try await reader.rows(of: keys, index: index)
                window.apply(Set(keys), part.rows)
                undecodable += part.undecodable
            }
            errors = errors.filter { !changes.keys.contains($0.key) }
            try await fill(&window)
            show(window, undecodable)
        }
        self.cursor = changes.cursor
    }

    /// Reads the rows behind the last one, if the window lacks some.
    private func fill(_ window: inout QueryWindow<Item>) async throws {
        if window.missing == 0 { return }
        let part = try await reader.rows(limit: window.missing, after: window.rows.last?.place)
        window.append(part.rows, hasMore: part.hasMore)
        add(part.undecodable)
    }

    private func readAll(showing limit: Int? = nil) async throws {
        let limit = limit ?? window?.limit ?? pageSize
        var window = QueryWindow<Item>(limit: limit, isAscending: try reader.comparison())
        // Changes between this and the rows are read again, and change nothing then.
        let cursor = try await reader.cursor()
        let part = try await reader.rows(limit: window.capacity, after: nil)
        window.replace(with: part.rows, hasMore: part.hasMore)
        (self.cursor, index, errors) = (cursor, part.index, [:])
        show(window, part.undecodable)
    }

    private func show(_ window: QueryWindow<Item>, _ new: [StorageError] = []) {
        add(new)
        let old = self.window?.shown ?? []
        self.window = window
        model.show(window, after: old, undecodable: Array(errors.values))
    }

    private func add(_ new: [StorageError]) {
        for error in new where errors.count < QueryReader<Item>.maximumErrors {
            if let key = error.key { errors[key] = error }
        }
    }
}
