import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open file, which is closed when the object is released.
final class OpenFile: Sendable {
    let path: String
    let descriptor: Int32

    /// Opening a pipe must not block until another process opens its other end.
    private static let flags = O_CLOEXEC | O_NONBLOCK

    /// Opens a file for reading; `nil` if there is none.
    init?(ifPresent url: URL) throws {
        path = url.path
        guard
            let file = try FileSystem.openIfPresent(path, in: AT_FDCWD, O_RDONLY | Self.flags, path, absent: [ENOENT])
        else { return nil }
        descriptor = file
    }

    /// Opens a file, and creates it if it is missing, accessible by its owner only; its folder as well.
    init(creating url: URL, _ flags: Int32) throws {
        path = url.path
        let (path, flags) = (path, flags | O_CREAT | Self.flags)
        var descriptor = open(path, flags, 0o600)
        if descriptor < 0, errno == ENOENT { try FileSystem.createDirectory(at: url.deletingLastPathComponent()) }
        if descriptor < 0 { descriptor = try FileSystem.check(path, "opened") { open(path, flags, 0o600) } }
        self.descriptor = descriptor
    }

    deinit {
        FileSystem.closeLocked(descriptor)
    }

    func status() throws -> stat {
        var status = stat()
        try FileSystem.check(path, "examined") { fstat(descriptor, &status) }
        return status
    }

    /// Reads bytes of the file, fewer if it ends earlier.
    func read(from start: Int, to end: Int) throws -> Data {
        try FileSystem.read(descriptor, from: start, size: end - start, path)
    }

    /// Releases the `flock` on the file.
    ///
    /// Closing alone leaves the lock with each child forked in the meantime, until it executes another program.
    func unlock() {
        FileSystem.unlock(descriptor)
    }
}

/// What tells two versions of a file apart: which file it is, and when it, or its permissions, were last changed.
struct FileVersion: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        #if canImport(Darwin)
        let time = status.st_ctimespec
        #else
        let time = status.st_ctim
        #endif
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
    }

    /// The version of the file at a path; `nil` if there is none, or it can't be examined.
    init?(at path: String) {
        var status = stat()
        while stat(path, &status) != 0 {
            if errno != EINTR { return nil }
        }
        self.init(status)
    }

    /// Whether two versions are those of one file.
    func isSameFile(_ other: FileVersion) -> Bool {
        device == other.device && number == other.number
    }
}
