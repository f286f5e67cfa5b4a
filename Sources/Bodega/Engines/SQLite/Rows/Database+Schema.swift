import CSQLiteConfiguration
import GRDB
import GRDBSQLite

extension Database {

    /// SQLite does not let this connection change its schema.
    struct SchemaIsProtected: Error {}

    /// Changes SQLite's schema table with a statement, inside of a transaction, and makes this connection read it
    /// again.
    ///
    ///
    /// - Parameter body: Creates or removes a table, index or trigger, because of which the other connections read it
    ///   again.
    func changeSchema(_ sql: String, _ body: () throws -> Void) throws {
        let wasDefensive = sqliteConnection.map { emporium_sqlite_defend($0, 0) } == 1
        defer { if wasDefensive { _ = sqliteConnection.map { emporium_sqlite_defend($0, 1) } } }
        try executeDirectly("PRAGMA writable_schema = ON")
        let outcome = Result {
            guard try valueDirectly(of: "PRAGMA writable_schema") == "1" else { throw SchemaIsProtected() }
            do {
                try executeDirectly(sql)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                throw SchemaIsProtected()
            }
        }
        // Also after an error: it must not remain writable.
        try executeDirectly("PRAGMA writable_schema = RESET")
        try outcome.get()
        do {
            try body()
        } catch {
            // What this connection has read is about to be rolled back.
            try executeDirectly("PRAGMA writable_schema = RESET")
            throw error
        }
    }

    /// The path of the file.
    var file: String {
        sqlite3_db_filename(sqliteConnection, "main").map { String(cString: $0) } ?? ""
    }
}
