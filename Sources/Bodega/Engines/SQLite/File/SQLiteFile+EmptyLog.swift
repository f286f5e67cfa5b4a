import Foundation
import GRDBSQLite

extension SQLiteFile {

    /// Says in a storage error why a file could not be opened, and removes what the attempt has left beside it on a volume
    /// that is full.
    static func failure(_ error: any Error, toOpen url: URL) -> StorageError {
        let error = StorageError.sqlite(error, file: url)
        if error.code == .storageFull { removeEmptyLog(of: url) }
        return error
    }

    /// Removes the log of a file if it is empty, as the attempt to open the file leaves it on a volume that is full.
    ///
    /// SQLite removes a log when its last connection closes, but not without the log's index, for which there was no room.
    /// In its exclusive mode the index is in memory, and the lock keeps every other program from using the log, so that no
    /// program has the index open that is removed. If another program uses the file, nothing is removed.
    private static func removeEmptyLog(of url: URL) {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let connection,
            // Where SQLite finds the file behind symbolic links.
            let path = sqlite3_db_filename(connection, "main").map({ String(cString: $0) }),
            isEmptyFile(path + "-wal"),
            sqlite3_exec(connection, "PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_master", nil, nil, nil)
                == SQLITE_OK,
            isEmptyFile(path + "-wal"),
            // The lock is there: nothing else is written by this.
            sqlite3_exec(connection, "BEGIN EXCLUSIVE; COMMIT", nil, nil, nil) == SQLITE_OK
        else { return }
        FileSystem.discard(URL(fileURLWithPath: path + "-shm"))
    }

    private static func isEmptyFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size == 0
    }
}
