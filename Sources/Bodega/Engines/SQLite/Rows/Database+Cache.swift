import GRDB

extension Database {

    /// Allows up to 64 MiB for pages of the file instead of two. SQLite allocates it as needed, and keeps it until the
    /// connection is closed; on iOS, GRDB releases it under memory pressure.
    func allowLargeCache() throws {
        let kibibytes = 65536
        try execute(sql: "PRAGMA cache_size = -\(kibibytes)")
    }
}
