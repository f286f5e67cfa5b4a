import Foundation
import GRDBSQLite
import Logging

extension SQLiteFile {

    /// The storage error for a failed attempt to open a file. On a full volume, this also removes the WAL that the
    /// attempt has left beside the file.
    static func failure(_ error: any Error, toOpen url: URL) -> StorageError {
        let error = StorageError.sqlite(error, file: url)
        if error.code == .storageFull {
            do {
                try LockHolders.shared.whileOpening { removeEmptyLog(of: url) }
            } catch {
                bodegaLogger.debug("An empty WAL remains.", metadata: ["file": "\(url.path)", "error": "\(error)"])
            }
        }
        return error
    }

    /// Removes the WAL of a file if it is empty, as a failed attempt to open the file leaves it on a full volume.
    ///
    /// SQLite removes a WAL when its last connection closes, but not without the index of the WAL, for which there was
    /// no space. In exclusive mode the index is in memory, and the lock prevents every other program from using the
    /// WAL, so no program has the removed index open. If another program uses the file, nothing is removed.
    private static func removeEmptyLog(of url: URL) {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let connection,
            // With symbolic links resolved.
            let path = sqlite3_db_filename(connection, "main").map({ String(cString: $0) }),
            isEmptyFile(path + "-wal"),
            sqlite3_exec(connection, "PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_master", nil, nil, nil)
                == SQLITE_OK,
            isEmptyFile(path + "-wal"),
            // The connection holds the lock, so this writes nothing else.
            sqlite3_exec(connection, "BEGIN EXCLUSIVE; COMMIT", nil, nil, nil) == SQLITE_OK
        else { return }
        FileSystem.discard(URL(fileURLWithPath: path + "-shm"))
    }

    private static func isEmptyFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size == 0
    }
}
