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

extension StorageError {

    /// Finds out why SQLite could not open a file. SQLite does not report the reason.
    ///
    /// - Returns: `nil` if no reason is found.
    static func reason(notToOpen file: URL, _ cause: any Error) -> StorageError? {
        guard var error = tooManyFiles(file) ?? tooLong(file) ?? denied(file) else { return nil }
        error.cause = cause
        return error
    }

    /// Checks that SQLite supports the length of a file's path, with symbolic links resolved.
    ///
    /// - Throws: ``Code/invalidArgument`` if the path is too long.
    static func checkLength(ofPath file: URL) throws {
        if let error = tooLong(file) { throw error }
    }

    private static func tooLong(_ file: URL) -> StorageError? {
        guard let limit = sqlite3_vfs_find(nil)?.pointee.mxPathname else { return nil }
        // SQLite adds this suffix, also to the path of a file that has a WAL.
        let longest = Int(limit) - "-journal".utf8.count
        let count = FileSystem.resolvedPath(file.path).utf8.count
        if count <= longest { return nil }
        return StorageError(
            .invalidArgument,
            "The path has \(count) bytes without symbolic links. SQLite supports \(longest). Choose a shorter one.",
            file: file)
    }

    /// Recognizes that too many files are open. `errno` may be that of an earlier call, so this attempts to open a
    /// file.
    private static func tooManyFiles(_ file: URL) -> StorageError? {
        let descriptor = open("/", O_RDONLY | O_CLOEXEC)
        let number = errno
        if descriptor >= 0 {
            close(descriptor)
            return nil
        }
        return [EMFILE, ENFILE].contains(number) ? system(number, file.path, "opened") : nil
    }

    /// Recognizes that the file system denies access to the file or, if there is none, to its folder.
    private static func denied(_ file: URL) -> StorageError? {
        func fails(_ path: String, _ mode: Int32) -> Int32? {
            faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? nil : errno
        }
        var number = fails(file.path, R_OK)
        if number == ENOENT { number = fails(file.deletingLastPathComponent().path, W_OK | X_OK) }
        guard let number, [EACCES, EPERM, EROFS].contains(number) else { return nil }
        return system(number, file.path, "opened")
    }
}
