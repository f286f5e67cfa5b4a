extension SQLiteCollection {

    private var history: SQLiteHistory { SQLiteHistory(of: table, in: file) }

    /// The synchronous form of ``SQLiteStorageEngine/fetchCursor()``.
    package func cursor() throws -> StorageCursor {
        file.authorship.keep(table)
        while true {
            if let end = try file.readManyHere(history.end(in:)) { return end.cursor }
            guard case .pool = file.connections else { throw history.missing() }
            try file.writeUnfollowedHere { [history] db in try history.begin(in: db) }
        }
    }

    /// The synchronous form of ``SQLiteStorageEngine/fetchChanges(since:besides:)``.
    package func changes(since cursor: StorageCursor, besides origin: StorageOrigin?) throws -> StorageDelta? {
        file.authorship.keep(table)
        return try file.readManyHere { try history.delta(since: cursor, besides: origin, in: $0) }
    }

    /// The same as ``SQLiteStorageEngine/changeSignals()``.
    package func changeSignals() -> AsyncStream<Void> {
        file.watch.signals(for: table)
    }
}
