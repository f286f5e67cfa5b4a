import GRDBSQLite

/// A prepared statement that is executed many times.
final class CStatement {
    let pointer: OpaquePointer
    // A statement must not outlive its connection.
    private let database: CDatabase

    init(_ database: CDatabase, _ sql: String) throws {
        var prepared: OpaquePointer?
        try database.check(
            sqlite3_prepare_v3(database.connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        )
        self.database = database
        guard let prepared else { preconditionFailure("An empty statement can't be prepared.") }
        pointer = prepared
    }

    deinit {
        sqlite3_finalize(pointer)
    }
}
