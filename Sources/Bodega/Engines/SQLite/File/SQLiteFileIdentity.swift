import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The place of an open file: the file that its path named when it was opened.
///
/// The path may contain symbolic links, which other programs can point elsewhere. SQLite keeps the WAL beside the file
/// itself, so the file must be at the resolved path, too.
struct SQLiteFileIdentity: Sendable {
    private let identity: SQLiteReadRegistry.Identity?
    private let paths: [String]
    /// The path with symbolic links resolved, beside which the WAL is.
    let resolved: String

    /// - Parameters:
    ///   - path: The path by which the file was opened.
    ///   - resolved: The path with symbolic links resolved.
    init(path: String, resolved: String) {
        identity = SQLiteReadRegistry.Identity(path)
        self.resolved = resolved
        paths = path == resolved ? [path] : [path, resolved]
    }

    private init(lost place: SQLiteFileIdentity) {
        (identity, paths, resolved) = (nil, place.paths, place.resolved)
    }

    /// Whether no path leads to the open file any more, so that another one may get its number when it is closed. Also
    /// if that can't be determined.
    var isDeleted: Bool {
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
                let path = "/dev/fd/" + name
                var status = stat()
                guard SQLiteReadRegistry.Identity(path) == identity, stat(path, &status) == 0 else { continue }
                return status.st_nlink == 0
            }
        } catch {
            // The safe answer: the file is not opened again.
        }
        return true
    }

    /// The place without a file.
    var lost: SQLiteFileIdentity { SQLiteFileIdentity(lost: self) }

    /// Checks that the file is still in its place, with a system call for each path.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if it was removed or replaced, or if a symbolic link was changed;
    ///   another error if that can't be determined.
    func check() throws {
        for path in paths {
            if let found = SQLiteReadRegistry.Identity(path) {
                if found == identity { continue }
            } else if errno != ENOENT, errno != ENOTDIR {
                throw StorageError.system(errno, path, "examined")
            }
            throw SQLiteFile.placeRemoved
        }
    }
}
