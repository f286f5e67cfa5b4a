import GRDB

extension Database {

    /// Allows up to 64 MiB for pages of the file instead of two. SQLite allocates it as needed, and keeps it until the
    /// connection is closed; on iOS, GRDB releases it under memory pressure.
    func allowLargeCache() throws {
        let kibibytes = 65536
        try execute(sql: "PRAGMA cache_size = -\(kibibytes)")
    }

    /// Runs a closure with a cache of two megabytes, for a value that is read or written once from start to end.
    func withSmallCache<Result>(_ body: () throws -> Result) throws -> Result {
        let size = try Int.fetchOne(self, sql: "PRAGMA cache_size") ?? -2_000
        try execute(sql: "PRAGMA cache_size = -2000")
        let result = Swift.Result { try body() }
        try execute(sql: "PRAGMA cache_size = \(size)")
        return try result.get()
    }
}
