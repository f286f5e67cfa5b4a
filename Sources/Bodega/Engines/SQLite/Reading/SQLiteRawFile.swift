import Foundation
import GRDB
import GRDBSQLite

/// Access to the bytes and the lock of a database file, through a file handle of SQLite but bypassing its pages.
///
/// A program must not open and close a database file by itself: closing releases the locks that connections of the same
/// process hold on it, because POSIX ties them to the process ("How To Corrupt An SQLite Database File", section 2.2).
/// SQLite counts the locks of its own file handles, so this uses such a handle.
///
/// The connection opens the file as immutable, so it takes no locks by itself and creates nothing.
final class SQLiteRawFile {
    private let connection: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>

    /// The location of the file itself, with symbolic links resolved: SQLite keeps the WAL beside it.
    let path: String

    /// Opens a file for reading, within ``LockHolders/whileOpening(_:)``.
    ///
    /// - Parameter path: The path of an existing file.
    /// - Throws: A ``StorageError`` if it can't be opened.
    init(path: String) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX
        let result = sqlite3_open_v2(Self.uri(path, "immutable=1"), &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let number = errno
            sqlite3_close(opened)
            let error = StorageError.system(number, path, "opened")
            throw StorageError.reason(notToOpen: URL(fileURLWithPath: path), error) ?? error
        }
        do {
            try LockHolders.shared.add(opened)
        } catch {
            sqlite3_close(opened)
            throw error
        }
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK, let pointer
        else {
            sqlite3_close(opened)
            throw StorageError(
                .cannotOpen, "The system's SQLite does not give access to the file.", file: URL(fileURLWithPath: path))
        }
        self.connection = opened
        self.file = pointer
        self.path = sqlite3_db_filename(opened, "main").map { String(cString: $0) } ?? path
    }

    deinit {
        sqlite3_close(connection)
    }

    /// The bytes in a range of the file; fewer if the file is shorter.
    func bytes(_ range: Range<Int>) throws -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let methods = file.pointee.pMethods?.pointee, methods.xFileSize(file, &size) == SQLITE_OK else {
            throw StorageError.system(errno, path, "examined")
        }
        let range = range.clamped(to: 0..<Int(size))
        var bytes = [UInt8](repeating: 0, count: range.count)
        guard bytes.isEmpty || methods.xRead(file, &bytes, Int32(range.count), Int64(range.lowerBound)) == SQLITE_OK
        else {
            throw StorageError.system(errno, path, "read")
        }
        return bytes
    }

    /// Prevents other programs from changing the database's mode, removing its WAL, and writing past it.
    ///
    /// - Throws: GRDB's `DatabaseError` with `SQLITE_BUSY` if another program is doing one of these.
    func lock() throws {
        guard let methods = file.pointee.pMethods?.pointee else { return }
        let result = methods.xLock(file, SQLITE_LOCK_SHARED)
        if result != SQLITE_OK { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
    }

    /// Releases the lock.
    func unlock() {
        _ = file.pointee.pMethods?.pointee.xUnlock(file, SQLITE_LOCK_NONE)
    }

    /// The URI of a file with a query for SQLite, see https://www.sqlite.org/uri.html
    static func uri(_ path: String, _ query: String) -> String {
        // Escaping more would be safe, too, but make messages harder to read.
        let escaped = path.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"): text += "%" + String(byte, radix: 16)
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        // Two leading slashes would begin an authority.
        return "file:" + (escaped.hasPrefix("//") ? "//" : "") + escaped + "?" + query
    }
}
