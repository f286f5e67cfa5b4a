import Dispatch
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

    /// Closes the files that were at a path before. SQLite would take their WAL for that of the file that is there now,
    /// and their locks of it are those of the process. One that is back in its place is opened again by its next use.
    ///
    /// - Throws: ``StorageError/Code/locked`` if such a file is in use.
    static func closeFormerFiles(at path: String) throws {
        let path = FileSystem.resolvedPath(path)
        // Others are not even kept for a moment: their users expect that they close with their last engine.
        for file in places.withLock({ $0[path] ?? [] }) { try file.object?.closeIfRemoved(from: path) }
    }

    /// Notes that the file was opened at a path, for ``closeFormerFiles(at:)``.
    func note(_ connections: Connections) {
        guard case .pool(let pool, _) = connections else { return }
        // Released after the lock.
        let living = Self.places.withLock { places in
            let living = (places[pool.place.resolved] ?? []).compactMap(\.object).filter { $0 !== self }
            places[pool.place.resolved] = (living + [self]).map { Weak($0) }
            return living
        }
        withExtendedLifetime(living) {}
    }

    /// The files that were opened, by the paths beside which their WALs are. There is an entry for each path that the
    /// process has ever used.
    private static let places = Locked<[String: [Weak<SQLiteFile>]]>([:])

    private func closeIfRemoved(from path: String) throws {
        guard let pool = openedPool, pool.place.resolved == path else { return }
        do {
            return try pool.place.check()
        } catch let error as StorageError where error.code == .placeRemoved {
            // Continues below.
        }
        let isClosed = try readers.tryWhileEmpty(within: Self.patience) {
            guard turn.try() else { return false }
            defer { turn.unlock() }
            try pool.emptyLog()
            let place = pool.place.isDeleted ? pool.place.lost : pool.place
            guard case .pool(_, let commits)? = beginClosing() else { return true }
            commits.end()
            defer {
                starts.noteClosing()
                noteSuspended(at: place)
            }
            try pool.close()
            return true
        }
        guard isClosed == true else {
            throw StorageError(
                .locked, "The database that was here before is still in use in this program. Try again.", file: url)
        }
    }

    /// How long the readers of a file that was removed have to end.
    private static let patience = DispatchTimeInterval.seconds(1)
}
