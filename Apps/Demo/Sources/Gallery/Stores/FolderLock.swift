import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock that allows one gallery at a time to use a folder, for as long as the object exists.
///
/// Several programs can use one database. But a gallery removes orphaned images when it starts, and an image that
/// another gallery has just written has no owner yet. The system releases the lock when the process ends, however it
/// ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Locks a folder and creates it if it is missing.
    ///
    /// - Throws: A `StorageError`, with the code `locked` if another gallery has locked the folder.
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
            // `deinit` closes the descriptor. It runs after this throws, too.
            let code = errno
            if code == EWOULDBLOCK {
                throw StorageError(.locked, "Another gallery is using this folder.", file: directory.url)
            }
            throw StorageError(
                .inputOutput, "The folder could not be locked: \(String(cString: strerror(code))).", file: file)
        }
    }

    deinit {
        close(descriptor)
    }
}
