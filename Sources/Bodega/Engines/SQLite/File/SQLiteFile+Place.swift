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

    static let placeRemoved = StorageError(
        .placeRemoved,
        "The database was removed or replaced while it was open. Nothing was changed. Close it, and open it again.")

    /// The storage error for an error of an operation.
    func storageError(_ error: any Error) -> StorageError {
        // The pool opens further reading connections when all are in use.
        let couldNotConnect = (error as? DatabaseError)?.resultCode == .SQLITE_CANTOPEN
        if couldNotConnect, access(url.path, F_OK) != 0, errno == ENOENT {
            return StorageError.sqlite(Self.placeRemoved, file: url)
        }
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_MISUSE,
            error.message == SQLiteConnectionPool.isClosed.message, !isClosed
        {
            // A suspension has closed the connections after they were taken from here.
            return StorageError.sqlite(StorageError.suspended, file: url)
        }
        return StorageError.sqlite(error, file: url)
    }

    /// Closes the file when the operations in progress are done.
    ///
    /// The gate admits no reader in the meantime.
    func close() throws {
        try mapped {
            try readers.whileEmpty {
                try end { connections in
                    switch connections {
                    case .pool(let pool, let commits):
                        // Otherwise closing would overtake them.
                        if let writer = pool.openedWriter { commits.commitWaiting(on: writer) }
                        try pool.close()
                    case .reader(let reader): try reader.close()
                    }
                }
            }
        }
        // Only now: if the file could not be closed, its followers continue.
        watch.close()
    }

    /// Closes the file like ``close()``, unless a thread has a transaction, which would have to end first. The caller
    /// may have locks that the thread waits for.
    ///
    /// - Throws: ``StorageError/Code/locked`` if there is a transaction.
    func closeUnlessInTransaction() throws {
        guard turn.try() else {
            throw StorageError(
                .locked, "The file was removed or replaced during a transaction. Try again when it has ended.",
                file: url)
        }
        defer { turn.unlock() }
        try close()
    }
}
