extension SQLiteCollection {

    /// The synchronous form of ``SQLiteStorageEngine/fetchCursor()``.
    package func cursor() throws -> StorageCursor {
        try withTable { table in
            let history = SQLiteHistory(of: table, in: core)
            while true {
                if let end = try core.readManyHere(history.end(in:)) { return end.cursor }
                guard case .pool = try core.connections else { throw history.missing() }
                try core.writeUnreportedHere { [history] db in try history.begin(in: db) }
            }
        }
    }

    /// The synchronous form of ``SQLiteStorageEngine/fetchChanges(since:excluding:)``.
    package func changes(since cursor: StorageCursor, excluding origin: StorageOrigin?) throws -> StorageDelta? {
        try withTable { table in
            try core.readManyHere { db in
                try SQLiteHistory(of: table, in: core).delta(since: cursor, excluding: origin, in: db)
            }
        }
    }
}
