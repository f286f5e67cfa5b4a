import GRDB
import GRDBSQLite

extension LockHolders {

    /// Adds an open connection, and removes it when its files are closed.
    ///
    /// SQLite frees the functions of a connection after it has closed its files, also if another thread closes the
    /// connection because its last reference was released, or if a statement keeps it open for longer.
    ///
    /// - Parameter connection: The connection, within ``whileOpening(_:)``.
    func add(_ connection: OpaquePointer) throws {
        add(connection: UInt(bitPattern: connection))
        // If this fails, SQLite calls the last closure, too.
        let code = sqlite3_create_function_v2(
            connection, "emporium_lock_holder", 0, SQLITE_UTF8, UnsafeMutableRawPointer(connection),
            { context, _, _ in sqlite3_result_null(context) }, nil, nil,
            { connection in LockHolders.shared.remove(connection: UInt(bitPattern: connection)) })
        if code != SQLITE_OK { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Ends the statement that a connection runs, if any.
    ///
    /// - Parameter connection: The address of a connection that is not freed.
    static func interrupt(_ connection: UInt) {
        if let connection = OpaquePointer(bitPattern: connection) { sqlite3_interrupt(connection) }
    }
}

extension Database {

    /// Adds the connection to those that hold locks.
    func addToLockHolders() throws {
        if let sqliteConnection { try LockHolders.shared.add(sqliteConnection) }
    }

    /// Runs a closure in a transaction, and rolls it back if the closure throws.
    func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        try beginTransaction(kind)
        do {
            let value = try body()
            try commit()
            return value
        } catch {
            try endTransaction()
            throw error
        }
    }

    /// Begins a transaction that only reads, in a fraction of GRDB's time.
    func beginReading() throws { try run("BEGIN DEFERRED") }

    /// Ends a transaction that has only read.
    func endReading() throws { try endTransaction { try run("ROLLBACK") } }

    /// Rolls back the transaction, unless SQLite has ended it because of an error.
    func endTransaction() throws { try endTransaction { try rollback() } }

    private func run(_ sql: String) throws {
        let statement = try SQLiteStatement(sql, in: self)
        defer { statement.reset() }
        _ = try statement.step()
    }

    private func endTransaction(_ rollback: () throws -> Void) throws {
        while isInsideTransaction {
            do {
                try rollback()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
                // A suspension interrupts all statements, also this one.
            }
        }
    }
}

extension DatabaseError {
    /// Whether a suspension has ended the operation or its wait for a lock. While one begins, a wait is cut short.
    var isOfSuspension: Bool {
        switch resultCode {
        case .SQLITE_INTERRUPT: true
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: LockHolders.shared.areSuspended
        // A virtual table that is interrupted while it is opened, such as that of a pragma, fails with a general error.
        case .SQLITE_ERROR: message == "interrupted" || LockHolders.shared.areSuspended
        default: false
        }
    }
}
