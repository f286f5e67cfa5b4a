import Foundation
import GRDB

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension StorageError {

    /// The storage error for an error of an operation on a database file.
    ///
    /// - Parameters:
    ///   - error: The error. A storage error is returned with the file added.
    ///   - file: The database file.
    static func sqlite(_ error: any Error, file: URL) -> StorageError {
        if var error = error as? StorageError {
            error.file = error.file ?? file
            if error.code == .placeRemoved, let advice = TemporaryStorage.advice(for: file.path) {
                error.message += " " + advice
            }
            return error
        }
        guard let databaseError = error as? DatabaseError else {
            return StorageError(.inputOutput, "The database could not be used.", file: file, cause: error)
        }
        if databaseError.isOfSuspension {
            var error = StorageError.suspended
            (error.file, error.cause) = (file, databaseError)
            return error
        }
        if databaseError.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            let message =
                "A program was stopped during a write. Open the file for writing once to roll it back, then read."
            return StorageError(.cannotOpen, message, file: file, cause: databaseError)
        }
        if databaseError.isOfRemovedCollection {
            var error = StorageError.collectionRemoved
            (error.file, error.cause) = (file, databaseError)
            return error
        }
        if databaseError.resultCode == .SQLITE_CANTOPEN, let error = reason(notToOpen: file, databaseError) {
            return error
        }
        // There is no space for the index of the WAL.
        let isFull = databaseError.extendedResultCode == .SQLITE_IOERR_SHMSIZE
        let (code, message) = description(of: isFull ? .SQLITE_FULL : databaseError.resultCode)
        return StorageError(code, message, file: file, cause: databaseError)
    }

    /// Recognizes a write that exceeded a quota or a limit on the size of files, which SQLite reports like any other
    /// failed write, without the operating system's reason. `errno` still contains the reason if this is called
    /// immediately, on the thread that wrote.
    ///
    /// - Returns: `nil` for any other error.
    static func limitReached(_ error: any Error, file: URL? = nil) -> StorageError? {
        guard let error = error as? DatabaseError, error.extendedResultCode == .SQLITE_IOERR_WRITE,
            [EFBIG, EDQUOT, ENOSPC].contains(errno)
        else { return nil }
        return StorageError(
            .storageFull,
            "A quota or a limit on the size of files is reached. No stored item is lost.",
            file: file,
            cause: error
        )
    }

    private static func description(of result: ResultCode) -> (Code, String) {
        switch result {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
            (.locked, "Another program kept the database locked. Try again when that program is done.")
        case .SQLITE_FULL:
            (.storageFull, "The volume is full. Make room and write again; no stored item is lost.")
        case .SQLITE_READONLY:
            (.readOnly, "The database or its folder cannot be written to. Check their permissions.")
        case .SQLITE_PERM, .SQLITE_AUTH:
            (.permissionDenied, "Access to the database is denied. Check its permissions.")
        case .SQLITE_CORRUPT:
            (.damaged, "The database is damaged. Nothing was changed; copy it before you try to repair it.")
        case .SQLITE_NOTADB:
            (.damaged, "The file is not an SQLite database, or its beginning is damaged. Nothing was changed.")
        case .SQLITE_CANTOPEN:
            (.cannotOpen, "The database could not be opened. Check that its folder exists and can be written to.")
        case .SQLITE_MISUSE:
            (.closed, "The database was closed. Open it again.")
        case .SQLITE_TOOBIG:
            (
                .tooLarge,
                "The key or value is larger than SQLite supports, by default 1 GB. Divide it, or store it as a file."
            )
        case .SQLITE_IOERR:
            (.inputOutput, "Reading or writing the database file failed.")
        default:
            (.inputOutput, "The database refused the operation.")
        }
    }
}

extension StorageError {
    /// The error of an engine whose collection was removed.
    package static let collectionRemoved = StorageError(
        .placeRemoved,
        "The collection was removed while it was open. Nothing was changed. Open it again, which creates an empty one.")

    /// Whether the collection was removed, not its file.
    package var isOfRemovedCollection: Bool { code == .placeRemoved && message == Self.collectionRemoved.message }
}

extension DatabaseError {
    /// Whether a statement could not be prepared because the table of a collection is missing.
    ///
    /// The code is that of a changed schema if the table was removed after the statement was prepared.
    var isOfRemovedCollection: Bool {
        guard resultCode == .SQLITE_ERROR || resultCode == .SQLITE_SCHEMA, let message else { return false }
        return message.hasPrefix("no such table: ") && message.contains(SQLiteCollections.prefix)
    }

    /// Whether another program did not release the file in time.
    ///
    /// A program that is stopped while it writes the header of the WAL's index keeps all others from reading. SQLite
    /// waits for ten seconds, independently of the time limit, and then reports a failure of the protocol for locks.
    var isOfLock: Bool { resultCode == .SQLITE_BUSY || resultCode == .SQLITE_PROTOCOL }

    /// Whether a write failed, rather than a read.
    var isOfWriting: Bool {
        resultCode == .SQLITE_FULL || [.SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC].contains(extendedResultCode)
    }
}
