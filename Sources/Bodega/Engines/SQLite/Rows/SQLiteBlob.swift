import Foundation
import GRDB
import GRDBSQLite

/// The value of a row, read or overwritten in parts by SQLite's interface for incremental input and output.
///
/// https://www.sqlite.org/c3ref/blob_open.html
final class SQLiteBlob {
    private let blob: OpaquePointer
    private let connection: OpaquePointer

    /// The number of bytes.
    let count: Int

    /// Opens a value, which must be a blob or a text.
    ///
    /// - Parameters:
    ///   - table: The table's name, unquoted.
    ///   - row: The row's number.
    ///   - isWritable: Whether to overwrite the value, inside of a transaction.
    init(inTable table: String, row: Int, isWritable: Bool = false, _ db: Database) throws {
        guard let connection = db.sqliteConnection else {
            throw StorageError(.closed, "The database was closed. Open it again.")
        }
        var blob: OpaquePointer?
        let code = sqlite3_blob_open(connection, "main", table, "value", Int64(row), isWritable ? 1 : 0, &blob)
        guard code == SQLITE_OK, let blob else {
            sqlite3_blob_close(blob)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
        }
        (self.blob, self.connection, count) = (blob, connection, Int(sqlite3_blob_bytes(blob)))
    }

    deinit { sqlite3_blob_close(blob) }

    /// Reads a part.
    func read(_ count: Int, at offset: Int) throws -> Data {
        var part = Data(count: count)
        // In bounds: SQLite refuses to read past the value's end.
        try part.withUnsafeMutableBytes { bytes in
            try check(sqlite3_blob_read(blob, bytes.baseAddress, Int32(count), Int32(offset)))
        }
        return part
    }

    /// Overwrites a part.
    func write(_ part: Data, at offset: Int) throws {
        try part.withUnsafeBytes { bytes in
            try check(sqlite3_blob_write(blob, bytes.baseAddress, Int32(bytes.count), Int32(offset)))
        }
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw DatabaseError(
            resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }
}
