import BenchHarness
import Foundation
import GRDBSQLite

/// A database that is used through SQLite's C API, with the engine's table and settings.
///
/// It is written for speed: statements are prepared once, values are bound without a copy, and there is no work that
/// the engine does not have to do, too.
final class CDatabase {
    let connection: OpaquePointer

    /// Opens or creates a file, with write-ahead log and a sync at each commit.
    init(_ file: URL) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(file.path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw VerificationFailure("cannot open \(file.path): SQLite code \(code)")
        }
        connection = opened
        try execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA cache_size = -65536;
            CREATE TABLE IF NOT EXISTS data (
                key TEXT PRIMARY KEY NOT NULL,
                value BLOB NOT NULL,
                createdAt TEXT NOT NULL,
                updatedAt TEXT NOT NULL,
                kind INTEGER
            );
            """
        )
    }

    deinit {
        sqlite3_close_v2(connection)
    }

    /// Runs statements without results.
    func execute(_ sql: String) throws {
        try check(sqlite3_exec(connection, sql, nil, nil, nil))
    }

    /// Throws unless the code of a call means success.
    func check(_ code: CInt, is expected: CInt = SQLITE_OK) throws {
        if code != expected {
            throw VerificationFailure("SQLite code \(code): \(String(cString: sqlite3_errmsg(connection)))")
        }
    }

    /// The number of items.
    func count() throws -> Int {
        let statement = try CStatement(self, "SELECT count(*) FROM data")
        try check(sqlite3_step(statement.pointer), is: SQLITE_ROW)
        return Int(sqlite3_column_int64(statement.pointer, 0))
    }
}
