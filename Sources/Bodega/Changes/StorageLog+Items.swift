import Foundation

extension StorageDelta {

    /// Reads all changes after a cursor in parts, see ``StorageLog/fetchAllChanges(since:excluding:)``.
    ///
    /// - Parameter fetch: Reads a part.
    package static func whole(
        since cursor: StorageCursor, excluding origin: StorageOrigin?,
        _ fetch: (ChangesRequest) async throws -> StorageDelta?
    ) async throws -> StorageDelta? {
        var own = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while origin != nil, own.changes.isEmpty {
            guard let next = try await fetch(ChangesRequest(since: own.cursor, excluding: origin)) else { return nil }
            if next.isComplete, next.changes.isEmpty || own.cursor == cursor { return next }
            own.append(next)
        }
        // A part with changes of the origin alone was omitted, but there are others before or after it.
        var all = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while !all.isComplete {
            guard let next = try await fetch(ChangesRequest(since: all.cursor)) else { return nil }
            all.append(next)
        }
        return all
    }
}

extension StorageLog {

    /// Reads all changes after a cursor, without waiting for any. If all are those of an excluded origin, there are
    /// none.
    package func fetchAllChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws
        -> StorageDelta?
    {
        try await .whole(since: cursor, excluding: origin) { try await fetchChanges($0).value }
    }

    /// Answers a request for changes with items, for an engine that can't read both at one moment: it reads the items,
    /// then whether they have changed in the meantime.
    package func fetchChangesWithItems(
        _ request: ChangesRequest, of engine: some StorageBackend
    ) async throws -> StorageAnswer<StorageDelta?> {
        guard var delta = try await fetchAllChanges(since: request.cursor, excluding: request.excluded) else {
            return StorageAnswer(nil)
        }
        for _ in 0..<16 {
            let keys = delta.keysWritten(for: request)
            if keys.isEmpty { return StorageAnswer(delta) }
            let answer = try await engine.fetch(FetchRequest(keys, request.fields, options: request.options))
            guard let more = try await fetchAllChanges(since: delta.cursor, excluding: nil) else { break }
            let known = Set(keys)
            if !more.changes.contains(where: { known.contains($0.key) }) {
                delta.items = answer.value
                return StorageAnswer(delta, answer.report)
            }
            delta.append(more)
        }
        return StorageAnswer(nil)
    }
}
