import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The kind of file or folder at a path, as far as stores distinguish them.
package enum StoreNature: Equatable, Sendable {
    /// Nothing exists at the path.
    case missing
    /// A folder.
    case folder
    /// A file that begins like an SQLite database.
    case sqlite
    /// An empty file.
    case empty
    /// Any other file, or something that is neither a file nor a folder.
    case other

    /// The path extensions of SQLite files, in lower case.
    static let databaseExtensions = ["sqlite3", "sqlite", "db"]

    /// Determines what exists at a path, following symbolic links. Nothing that could block is opened, such as a pipe.
    ///
    /// - Parameter path: The path.
    /// - Throws: A ``StorageError`` if the file can't be read, or the path contains a NUL.
    package init(ofPath path: String) throws {
        // The system would use the path up to the NUL, which is a different one.
        if path.utf8.contains(0) {
            throw StorageError(
                .invalidArgument, "The path \(path.debugDescription) contains a NUL. Choose a path without one.")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            // If a part of the path is a file, nothing exists there, as if a folder were missing.
            guard errno == ENOENT || errno == ENOTDIR else { throw StorageError.system(errno, path, "examined") }
            self = .missing
            return
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            self = .folder
        } else if !status.isFile {
            self = .other
        } else {
            self = try Self.ofFile(path)
        }
    }

    private static func ofFile(_ path: String) throws -> StoreNature {
        // The magic header string, see https://www.sqlite.org/fileformat.html#magic_header_string
        let magic = Array("SQLite format 3\0".utf8)
        let start = try SQLiteRawFile(path: path).bytes(0..<magic.count)
        return start.isEmpty ? .empty : start == magic ? .sqlite : .other
    }
}
