extension ObservableStorageEngine {

    /// How often items are read that somebody goes on changing.
    private var attempts: Int { 16 }

    /// Reads all changes, then the items, and both anew as long as somebody changes these items meanwhile.
    ///
    /// - Returns: `nil` if that does not come to an end, and if the history does not reach back to the cursor.
    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageChangedItems? {
        guard var news = try await fetchAllChanges(since: cursor, excluding: origin) else { return nil }
        for _ in 0..<attempts {
            let keys = news.keysWritten(excluding: origin)
            if keys.isEmpty { return StorageChangedItems(changes: news.changes, items: [], cursor: news.cursor) }
            let items = try await fetch(keys: Array(keys))
            guard let more = try await fetchAllChanges(since: news.cursor, excluding: nil) else { return nil }
            if !more.changes.contains(where: { keys.contains($0.key) }) {
                return StorageChangedItems(changes: news.changes, items: items, cursor: news.cursor)
            }
            news.append(more)
        }
        return nil
    }

    /// Reads all parts of the changes after a cursor.
    private func fetchAllChanges(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        try await .whole(since: cursor, excluding: origin, fetchChanges(since:excluding:))
    }
}

extension StorageDelta {

    /// Reads part by part.
    ///
    /// - Parameters:
    ///   - cursor: The place before the first part.
    ///   - origin: Who need not hear of what nobody but himself has changed.
    ///   - fetch: Reads the part after a cursor, see ``ObservableStorageEngine/fetchChanges(since:excluding:)``.
    /// - Returns: All changes, also own ones if there are others; `nil` if the closure has returned that.
    package static func whole(
        since cursor: StorageCursor,
        excluding origin: StorageOrigin?,
        _ fetch: (StorageCursor, StorageOrigin?) async throws -> StorageDelta?
    ) async throws -> StorageDelta? {
        var own = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while origin != nil, own.changes.isEmpty {
            guard let next = try await fetch(own.cursor, origin) else { return nil }
            if next.isComplete, next.changes.isEmpty || own.cursor == cursor { return next }
            own.append(next)
        }
        // Own changes that are alone in their part were left out, but there are others before or behind them.
        var all = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while !all.isComplete {
            guard let next = try await fetch(all.cursor, nil) else { return nil }
            all.append(next)
        }
        return all
    }
}
