import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What is at a path, as far as it matters to a store.
package enum StoreNature: Equatable, Sendable {
    /// Nothing.
    case missing
    /// A folder.
    case folder
    /// A file that begins like an SQLite database.
    case sqlite
    /// A file without a byte.
    case empty
    /// A file that begins in another way, or something that is neither a file nor a folder.
    case other

    /// The extensions by which a path is an SQLite file's, in lower case.
    static let databaseExtensions = ["sqlite3", "sqlite", "db"]

    /// Has a look, following symbolic links. Nothing is opened that could wait for somebody, such as a pipe.
    ///
    /// - Parameter path: Where to look.
    /// - Throws: A ``StorageError`` if what is there can't be read, or the path has a NUL in it.
    package init(ofPath path: String) throws {
        // The system would look at the path up to there, which is another one.
        if path.utf8.contains(0) {
            throw StorageError(
                .invalidArgument, "The path \(path.debugDescription) has a NUL in it. Choose a path without one.")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            // A file in the way of the path means that nothing is there, like a folder that is missing.
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
