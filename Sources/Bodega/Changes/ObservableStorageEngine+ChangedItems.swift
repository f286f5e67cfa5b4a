extension ObservableStorageEngine {

    /// How often items are read that somebody goes on changing.
    private var attempts: Int { 16 }

    /// Reads all changes, then the items, and both anew as long as somebody changes these items meanwhile.
    ///
    /// - Returns: `nil` if that does not come to an end, and if the history does not reach back to the cursor.
    public func fetchChangedItems(
        since cursor: StorageCursor, besides origin: StorageOrigin?
    ) async throws -> StorageChangedItems? {
        guard var news = try await fetchAllChanges(since: cursor, besides: origin) else { return nil }
        for _ in 0..<attempts {
            let keys = news.keysWritten(besides: origin)
            if keys.isEmpty { return StorageChangedItems(changes: news.changes, items: [], cursor: news.cursor) }
            let items = try await fetch(keys: Array(keys))
            guard let more = try await fetchAllChanges(since: news.cursor, besides: nil) else { return nil }
            if !more.changes.contains(where: { keys.contains($0.key) }) {
                return StorageChangedItems(changes: news.changes, items: items, cursor: news.cursor)
            }
            news.append(more)
        }
        return nil
    }

    /// Reads all parts of the changes after a cursor.
    private func fetchAllChanges(
        since cursor: StorageCursor, besides origin: StorageOrigin?
    ) async throws -> StorageDelta? {
        guard let first = try await fetchChanges(since: cursor, besides: origin) else { return nil }
        if first.isComplete { return first }
        // Own changes that are alone in their part are left out of it, but the next may have others.
        return try await .whole(since: cursor) { try await fetchChanges(since: $0, besides: nil) }
    }
}

extension StorageDelta {

    /// Reads part by part.
    ///
    /// - Parameter fetch: Reads the next part after a cursor.
    /// - Returns: `nil` as soon as the closure returns it.
    package static func whole(
        since cursor: StorageCursor,
        _ fetch: (StorageCursor) async throws -> StorageDelta?
    ) async throws -> StorageDelta? {
        var all = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while !all.isComplete {
            guard let next = try await fetch(all.cursor) else { return nil }
            all.append(next)
        }
        return all
    }
}
