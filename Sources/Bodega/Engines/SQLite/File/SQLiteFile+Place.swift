import Foundation
import GRDB
import GRDBSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SQLiteFile {

    /// Makes sure that the file is still what its path leads to. It costs a look at the folder.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if somebody has removed or replaced it.
    static func checkPlace(in db: Database) throws {
        guard let connection = db.sqliteConnection else { return }
        var hasMoved: CInt = 0
        // Volumes and databases in memory that don't know the question leave the answer as it is.
        sqlite3_file_control(connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        if hasMoved == 0 { return }
        throw placeRemoved
    }

    private static let placeRemoved = StorageError(
        .placeRemoved, "The database was removed or replaced while it was open. Nothing was changed. Open it anew.")

    /// Says in a storage error what an operation failed with.
    func storageError(_ error: any Error) -> StorageError {
        // Connections for reading are made when there is more to do than those that there are can do.
        let couldNotConnect = (error as? DatabaseError)?.resultCode == .SQLITE_CANTOPEN
        if couldNotConnect, access(url.path, F_OK) != 0, errno == ENOENT {
            return StorageError.sqlite(Self.placeRemoved, file: url)
        }
        return StorageError.sqlite(error, file: url)
    }

    /// Closes the file when the operations under way are done.
    ///
    /// Nobody reads meanwhile: GRDB gives a reader that came just before the connection that is closed by then, which has
    /// none of SQLite's any more, and asks that for its state.
    func close() throws {
        try mapped {
            try readers.whileEmpty {
                switch connections {
                case .pool(let pool, let commits):
                    // Closing would overtake them.
                    commits.commitWaiting()
                    // Readers go first: the connection that closes last empties the WAL and removes it, and they may not.
                    pool.releaseMemory()
                    try pool.close()
                case .reader(let reader):
                    try reader.close()
                }
            }
        }
        // Only now: who follows a file that could not be closed goes on.
        watch.close()
    }
}
