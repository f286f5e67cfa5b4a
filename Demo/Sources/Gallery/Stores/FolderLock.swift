import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps a second gallery off a folder, as long as it exists.
///
/// Several programs can use one database. But a gallery that starts removes images that nobody owns, and those that
/// another one has written a moment ago are not owned yet. The system lets go of the lock when the process ends, however.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Locks a folder; creates it if it is missing.
    ///
    /// - Throws: A `StorageError`: with the code `locked` if it is locked already.
    init(_ directory: FileManager.Directory) throws {
        do {
            try FileManager.default.createDirectory(
                at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageError(.cannotOpen, "The folder could not be created.", file: directory.url, cause: error)
        }
        let file = directory.url.appendingPathComponent("lock", isDirectory: false)
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(
                .cannotOpen, "The lock could not be opened: \(String(cString: strerror(errno))).", file: file)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // The descriptor is closed by `deinit`, which also runs after this has thrown.
            let code = errno
            if code == EWOULDBLOCK {
                throw StorageError(.locked, "Another gallery runs on this folder.", file: directory.url)
            }
            throw StorageError(
                .inputOutput, "The folder could not be locked: \(String(cString: strerror(code))).", file: file)
        }
    }

    deinit {
        close(descriptor)
    }
}
