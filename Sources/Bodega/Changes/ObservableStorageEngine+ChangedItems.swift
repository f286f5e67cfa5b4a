public import Foundation

extension ObservableStorageEngine {

    /// Maximum number of reads of items that keep changing.
    private var attempts: Int { 16 }

    /// Reads all changes, then the items, and both again while other writers change these items.
    ///
    /// - Returns: `nil` if the items change during each of 16 attempts, or the log does not reach back to the cursor.
    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])? {
        guard var delta = try await fetchAllChanges(since: cursor, excluding: origin) else { return nil }
        for _ in 0..<attempts {
            let keys = delta.keysWritten(excluding: origin)
            if keys.isEmpty { return (delta, []) }
            let items = try await fetch(keys: Array(keys))
            guard let more = try await fetchAllChanges(since: delta.cursor, excluding: nil) else { return nil }
            if !more.changes.contains(where: { keys.contains($0.key) }) { return (delta, items) }
            delta.append(more)
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

    /// Reads all parts of the changes after a cursor.
    ///
    /// - Parameters:
    ///   - cursor: The cursor before the first part.
    ///   - origin: The origin whose own changes may be omitted.
    ///   - fetch: Reads the part after a cursor, see ``ObservableStorageEngine/fetchChanges(since:excluding:)``.
    /// - Returns: All changes, those of the origin included if there are others; `nil` if the closure has returned
    ///   that.
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
        // A part with changes of the origin alone was omitted, but there are others before or after it.
        var all = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while !all.isComplete {
            guard let next = try await fetch(all.cursor, nil) else { return nil }
            all.append(next)
        }
        return all
    }
}
