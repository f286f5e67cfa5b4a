import Foundation
import GRDB
import GRDBSQLite
import RecordCoder

/// A prepared statement of a connection, driven through SQLite's own interface.
///
/// GRDB prepares and caches the statement. Binding and stepping bypass GRDB, because this package compares its speed
/// with that of SQLite's own interface. Texts and blobs are bound without a copy while a closure runs; the caller
/// resets the statement before that closure ends, or at least before the next one.
struct SQLiteStatement {
    private var statement: Statement
    private let connection: OpaquePointer

    /// The statement in SQLite's interface.
    var raw: OpaquePointer { statement.sqliteStatement }

    /// Prepares a statement, or reuses the one in the connection's cache.
    init(_ sql: String, in db: Database) throws {
        guard let connection = db.sqliteConnection else {
            throw StorageError(.closed, "The database was closed. Open it again.")
        }
        statement = try db.cachedStatement(sql: sql)
        self.connection = connection
        // A statement that never ran is new in the cache.
        if sqlite3_stmt_status(raw, SQLITE_STMTSTATUS_RUN, 0) == 0, Self.areMany(of: connection) {
            // Statements in use stay alive. All others are prepared again when they are needed.
            db.clearSchemaCache()
            statement = try db.cachedStatement(sql: sql)
        }
    }

    /// The maximum number of statements in a connection's cache. Each collection has statements of its own.
    static let limit = 512

    private static func areMany(of connection: OpaquePointer) -> Bool {
        var statement = sqlite3_next_stmt(connection, nil)
        for _ in 0..<limit {
            if statement == nil { return false }
            statement = sqlite3_next_stmt(connection, statement)
        }
        return true
    }

    /// The integer in the first row of a query without parameters, `nil` if there is none.
    static func integer(_ sql: String, in db: Database) throws -> Int? {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    /// Moves to the next row.
    ///
    /// - Returns: `false` after the last row.
    func step() throws -> Bool {
        switch sqlite3_step(raw) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure()
        }
    }

    /// Ends the current execution. An error that stepping has reported is not reported again.
    func reset() {
        sqlite3_reset(raw)
    }

    /// The number of rows that the last insertion, update or removal of this connection changed.
    var changes: Int {
        Int(sqlite3_changes(connection))
    }

    /// Binds an integer.
    func bind(_ value: Int, at index: Int32) throws {
        try check(sqlite3_bind_int64(raw, index, Int64(value)))
    }

    /// Binds a real number.
    func bind(_ value: Double, at index: Int32) throws {
        try check(sqlite3_bind_double(raw, index, value))
    }

    /// Binds NULL.
    func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(raw, index))
    }

    /// Binds a copy of a text, which stays bound.
    func bindCopy(of text: String, at index: Int32) throws {
        var text = text
        try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) {
                try check(sqlite3_bind_text(raw, index, $0.baseAddress ?? emptyText, Int32($0.count), copying))
            }
        }
    }

    /// Binds a copy of a blob that is not empty; it stays bound.
    func bindCopy(of bytes: UnsafeRawBufferPointer, at index: Int32) throws {
        try check(sqlite3_bind_blob(raw, index, bytes.baseAddress, Int32(bytes.count), copying))
    }

    /// Binds a text while a closure runs.
    func bind<Result>(_ text: String, at index: Int32, _ body: () throws -> Result) throws -> Result {
        var text = text
        return try text.withUTF8 { bytes in
            // An empty buffer may have no address, which would bind NULL.
            let pointer = UnsafeRawPointer(bytes.baseAddress) ?? UnsafeRawPointer(emptyText)
            try check(
                sqlite3_bind_text64(
                    raw, index, pointer.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil,
                    UInt8(SQLITE_UTF8))
            )
            return try body()
        }
    }

    /// Binds a blob while a closure runs.
    func bind<Result>(_ data: Data, at index: Int32, _ body: () throws -> Result) throws -> Result {
        try data.withUnsafeBytes { bytes in
            if bytes.isEmpty {
                try check(sqlite3_bind_zeroblob(raw, index, 0))
            } else {
                try check(sqlite3_bind_blob64(raw, index, bytes.baseAddress, UInt64(bytes.count), nil))
            }
            return try body()
        }
    }

    /// Binds a value while a closure runs.
    func bind<Result>(_ value: SQLiteValue, at index: Int32, _ body: () throws -> Result) throws -> Result {
        switch value {
        case .data(let data): return try bind(data, at: index, body)
        case .zeros(let count):
            try check(sqlite3_bind_zeroblob64(raw, index, UInt64(count)))
            return try body()
        }
    }

    /// The blob in a column of the current row, copied.
    func data(at column: Int32) -> Data {
        // SQLite requires that the pointer is read before the size.
        guard let bytes = sqlite3_column_blob(raw, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(raw, column)))
    }

    /// The text in a column of the current row, copied. Invalid UTF-8 is repaired.
    func text(at column: Int32) -> String {
        guard let bytes = sqlite3_column_text(raw, column) else { return "" }
        let count = Int(sqlite3_column_bytes(raw, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Whether the text in a column of the current row is not UTF-8.
    func hasInvalidText(at column: Int32) -> Bool {
        guard let bytes = sqlite3_column_text(raw, column) else { return false }
        return !isValidUTF8(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(raw, column))))
    }

    /// The integer in a column of the current row, `nil` for NULL.
    func integer(at column: Int32) -> Int? {
        isNull(at: column) ? nil : Int(sqlite3_column_int64(raw, column))
    }

    /// The real number in a column of the current row.
    func real(at column: Int32) -> Double {
        sqlite3_column_double(raw, column)
    }

    /// A type of SQLite's values.
    enum ValueType { case integer, real, text, blob, null }

    /// The type of the value in a column of the current row.
    func type(at column: Int32) -> ValueType {
        switch sqlite3_column_type(raw, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Whether a column of the current row is NULL.
    func isNull(at column: Int32) -> Bool {
        sqlite3_column_type(raw, column) == SQLITE_NULL
    }

    /// A copy of the value in a column of the current row.
    func copy(at column: Int32) throws -> SQLiteValueCopy {
        guard let copy = SQLiteValueCopy(sqlite3_column_value(raw, column)) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        return copy
    }

    /// Binds a copy of a value, which stays bound.
    func bind(_ value: SQLiteValueCopy, at index: Int32) throws {
        try check(sqlite3_bind_value(raw, index, value.pointer))
    }

    private func check(_ code: Int32) throws {
        if code == SQLITE_OK { return }
        var error = failure()
        // Binding too large a blob does not set the connection's error.
        if error.resultCode.rawValue != code & 0xFF { error = DatabaseError(resultCode: ResultCode(rawValue: code)) }
        throw error
    }

    private func failure() -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)),
            sql: statement.sql
        )
    }
}

/// The value of a row to write.
enum SQLiteValue {
    case data(Data)
    /// A number of zeros, to be overwritten.
    case zeros(Int)
}

/// SQLITE_TRANSIENT, which is a cast that Swift cannot import: SQLite copies the bytes before the call returns.
nonisolated(unsafe) private let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// An address for empty texts, which is never written to and never freed.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    pointer.initialize(to: 0)
    return UnsafePointer(pointer)
}()

/// A copy of a value of any type, independent of its connection.
final class SQLiteValueCopy: @unchecked Sendable {
    // @unchecked because SQLite does not change it.
    fileprivate let pointer: OpaquePointer

    fileprivate init?(_ value: OpaquePointer?) {
        guard let copy = sqlite3_value_dup(value) else { return nil }
        pointer = copy
    }

    deinit { sqlite3_value_free(pointer) }
}
