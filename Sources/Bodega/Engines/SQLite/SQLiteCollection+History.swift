extension SQLiteCollection {

    private var history: SQLiteHistory { SQLiteHistory(of: table, in: core) }

    /// The synchronous form of ``SQLiteStorageEngine/fetchCursor()``.
    package func cursor() throws -> StorageCursor {
        while true {
            if let end = try core.readManyHere(history.end(in:)) { return end.cursor }
            guard case .pool = try core.connections else { throw history.missing() }
            try core.writeUnreportedHere { [history] db in try history.begin(in: db) }
        }
    }

    /// The synchronous form of ``SQLiteStorageEngine/fetchChanges(since:excluding:)``.
    package func changes(since cursor: StorageCursor, excluding origin: StorageOrigin?) throws -> StorageDelta? {
        try core.readManyHere { try history.delta(since: cursor, excluding: origin, in: $0) }
    }

    /// The same as ``SQLiteStorageEngine/changeSignals()``.
    package func changeSignals() -> AsyncStream<Void> {
        core.watch.signals(for: table)
    }
}
