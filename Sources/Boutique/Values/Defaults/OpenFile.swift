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
    let url: URL
    let descriptor: Int32
    private let known = Locked<FileVersion?>(nil)

    /// Opens a file. A created file is accessible by its owner only.
    init(_ url: URL, _ flags: Int32) throws {
        self.url = url
        // Opening a pipe must not block until another process opens its other end.
        let flags = flags | O_CLOEXEC | O_NONBLOCK
        descriptor = try FileSystem.check(url.path, "opened") { open(url.path, flags, 0o600) }
    }

    deinit {
        close(descriptor)
    }

    func status() throws -> stat {
        var status = stat()
        try FileSystem.check(url.path, "examined") { fstat(descriptor, &status) }
        return status
    }

    /// Stores a version, to detect later changes.
    func known(as version: FileVersion) -> OpenFile {
        known.withLock { $0 = version }
        return self
    }

    /// Whether a version is that of this file, and the file has not been changed since ``known(as:)``.
    func isUnchanged(_ version: FileVersion) -> Bool { known.withLock { $0 } == version }

    /// Reads the whole file.
    func read() throws -> Data {
        try FileSystem.read(descriptor, size: Int(try status().st_size), url.path)
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
}
