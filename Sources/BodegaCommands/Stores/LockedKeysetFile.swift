import Bodega
import Foundation

/// A keyset file that no other rotation can use as long as this object exists.
///
/// The lock is the `flock` of the file. A replacement is locked before it gets the name of the file, so that at any
/// moment the file with the name is locked.
final class LockedKeysetFile {
    private let file: KeysetFile
    private var descriptors: [Int32] = []

    /// Locks a file.
    ///
    /// - Throws: A ``ToolError`` if it is not a regular file, or another rotation uses it.
    init(path: String) throws {
        file = KeysetFile(path: path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be opened: \(lastErrorText).") }
        descriptors.append(descriptor)
        // What is written into a pipe would be lost.
        guard let status = FileStatus(descriptor: descriptor), status.isRegular else {
            throw ToolError(
                .usage,
                "\(path) is not a regular file. A rotation writes the new key into the file of --keyset: name one.")
        }
        guard systemLock(descriptor) else {
            guard errno == EWOULDBLOCK else { throw ToolError(.failure, "\(path) can't be locked: \(lastErrorText).") }
            throw ToolError(
                .failure, "Another rotation is using the keyset \(path). Run the command again when it has ended.")
        }
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let named = FileStatus(path: Array(resolved.utf8), followingLinks: true)
        guard named?.identity == status.identity else {
            throw ToolError(
                .failure, "The keyset \(path) was removed or replaced while it was opened. Run the command again.")
        }
    }

    func read() throws -> EncryptionKeyset { try file.read() }

    /// Replaces the file and keeps the lock.
    func replace(with keyset: EncryptionKeyset) throws {
        try file.replace(with: keyset) { draft in
            let copy = fcntl(draft, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw ToolError(.failure, "The keyset can't be locked: \(lastErrorText).") }
            descriptors.append(copy)
            guard systemLock(copy) else { throw ToolError(.failure, "The keyset can't be locked: \(lastErrorText).") }
        }
    }

    deinit {
        for descriptor in descriptors {
            // Closing it is not enough: a process that another thread is starting can have a copy.
            systemUnlock(descriptor)
            close(descriptor)
        }
    }
}
