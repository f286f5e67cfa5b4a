extension SQLiteCollection {

    private var history: SQLiteHistory { SQLiteHistory(of: table, in: file) }

    /// The synchronous form of ``SQLiteStorageEngine/fetchCursor()``.
    package func cursor() throws -> StorageCursor {
        try keep()
        while true {
            if let end = try file.readManyHere(history.end(in:)) { return end.cursor }
            guard case .pool = file.connections else { throw history.missing() }
            try file.writeUnfollowedHere { [history] db in try history.begin(in: db) }
        }
    }

    /// The synchronous form of ``SQLiteStorageEngine/fetchChanges(since:excluding:)``.
    package func changes(since cursor: StorageCursor, excluding origin: StorageOrigin?) throws -> StorageDelta? {
        try keep()
        return try file.readManyHere { try history.delta(since: cursor, excluding: origin, in: $0) }
    }

    private func keep() throws {
        if history.keep() { try history.waited(Result { try file.writeUnfollowedHere { _ in } }) }
    }

    /// The same as ``SQLiteStorageEngine/changeSignals()``.
    package func changeSignals() -> AsyncStream<Void> {
        file.watch.signals(for: table)
    }
}
