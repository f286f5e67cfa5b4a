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
    private let known = Locked<stat?>(nil)

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

    /// Stores a status, to detect later changes.
    func known(as status: stat) -> OpenFile {
        known.withLock { $0 = status }
        return self
    }

    /// Whether a status is that of this file, and the file has not been written since ``known(as:)``.
    func isUnchanged(_ status: stat) -> Bool {
        guard let known = known.withLock({ $0 }) else { return false }
        #if canImport(Darwin)
        let (time, knownTime) = (status.st_mtimespec, known.st_mtimespec)
        #else
        let (time, knownTime) = (status.st_mtim, known.st_mtim)
        #endif
        return status.st_dev == known.st_dev && status.st_ino == known.st_ino && status.st_size == known.st_size
            && time.tv_sec == knownTime.tv_sec && time.tv_nsec == knownTime.tv_nsec
    }

    /// Reads the whole file.
    func read() throws -> Data {
        try FileSystem.read(descriptor, size: Int(try status().st_size), url.path)
    }
}
