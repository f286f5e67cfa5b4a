import GRDB
import GRDBSQLite

// Statements that run once for each connection, through SQLite's own interface: GRDB would take longer to prepare them
// than SQLite takes to run them.
extension Database {

    /// Runs statements, and ignores their rows.
    func executeDirectly(_ sql: String) throws {
        try check(sqlite3_exec(sqliteConnection, sql, nil, nil, nil), sql)
    }

    /// Runs a statement.
    ///
    /// - Returns: The first column of the first row as text, `nil` if there is none.
    func valueDirectly(of sql: String) throws -> String? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(sqliteConnection, sql, -1, &statement, nil), sql)
        defer { sqlite3_finalize(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        case SQLITE_DONE: return nil
        case let code:
            try check(code, sql)
            return nil
        }
    }

    private func check(_ code: Int32, _ sql: String) throws {
        if code == SQLITE_OK { return }
        throw DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
            message: String(cString: sqlite3_errmsg(sqliteConnection)),
            sql: sql
        )
    }
}
