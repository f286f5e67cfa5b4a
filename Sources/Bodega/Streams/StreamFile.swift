package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is read or written in parts, open as long as this object exists.
///
/// Its methods that are not asynchronous block their callers. The asynchronous ones use the ``WorkerThreads``, of which
/// four at most wait for the disk at the same time.
package final class StreamFile: StoredBytes {

    /// The maximum number of bytes of a part.
    package static let partSize = 1 << 20

    private static let gate = ReaderGate(count: 4)

    private let descriptor: Int32
    private let path: String
    private let size: Locked<Int>

    /// Takes ownership of an open file.
    ///
    /// - Parameters:
    ///   - descriptor: The file. It is read from its beginning; its position is ignored.
    ///   - count: The number of bytes to read.
    ///   - path: The file's path, for errors.
    init(descriptor: Int32, count: Int, path: String) {
        self.descriptor = descriptor
        self.path = path
        size = Locked(count)
    }

    deinit { close(descriptor) }

    /// Opens a regular file for reading.
    convenience init(opening url: URL) throws {
        let path = url.path
        // Opening a pipe for reading would block.
        let descriptor = try FileSystem.check(path, "opened") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isFile else {
            close(descriptor)
            throw StorageError(.invalidArgument, "A stream can be made from a regular file only.", file: url)
        }
        self.init(descriptor: descriptor, count: Int(status.st_size), path: path)
    }

    /// Creates an empty file without a name, which only this process can read. The system removes it when the object is
    /// released, or when the process ends.
    ///
    /// It is in the folder of the variable `TMPDIR` or, without one, in `/var/tmp`, because `/tmp` may be in memory.
    package static func temporary() throws -> StreamFile {
        let folder = temporaryFolder
        let descriptor = try FileSystem.check(folder, Self.temporaryUse) {
            let name = folder + "/emporium-" + UUID().uuidString
            let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 { unlink(name) }
            return descriptor
        }
        return StreamFile(descriptor: descriptor, count: 0, path: folder)
    }

    /// Names the variable that the user has to correct.
    private static var temporaryUse: String {
        let isNamed = getenv("TMPDIR").map { $0.pointee != 0 } ?? false
        return "used for a temporary file" + (isNamed ? "; the variable TMPDIR names it" : "")
    }

    private static var temporaryFolder: String {
        if let folder = getenv("TMPDIR"), folder.pointee != 0 { return String(cString: folder) }
        return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : NSTemporaryDirectory()
    }

    /// The number of bytes.
    package var count: Int { size.withLock { $0 } }

    /// Reads a part, empty at the end of the file.
    package func blockingRead(at offset: Int) throws -> Data {
        let wanted = min(Self.partSize, count - offset)
        if wanted <= 0 { return Data() }
        var part = Data(count: wanted)
        let read = try part.withUnsafeMutableBytes { bytes in
            try FileSystem.check(path, "read") { pread(descriptor, bytes.baseAddress, wanted, off_t(offset)) }
        }
        guard read > 0 else {
            throw StorageError(
                .inputOutput, "The file was shortened while it was read.", file: URL(fileURLWithPath: path))
        }
        return read == wanted ? part : part.prefix(read)
    }

    /// Reads all bytes into memory.
    func blockingReadAll() throws -> Data {
        try FileSystem.read(descriptor, size: count, path)
    }

    /// Appends bytes.
    package func blockingAppend(_ bytes: UnsafeRawBufferPointer) throws {
        try FileSystem.append(bytes, to: descriptor, path, Self.temporaryUse)
        size.withLock { $0 += bytes.count }
    }

    /// Appends all bytes to another open file.
    ///
    /// Fails if the storage is suspended before the end: the caller holds a lock.
    ///
    /// - Parameter path: The other file's path, for errors.
    func blockingCopy(to other: Int32, _ path: @autoclosure () -> String) throws {
        var offset = 0
        while case let part = try blockingRead(at: offset), !part.isEmpty {
            try LockHolders.shared.check()
            try part.withUnsafeBytes { try FileSystem.append($0, to: other, path()) }
            offset += part.count
        }
    }

    package func read(at offset: Int) async throws -> Data {
        try await onWorker { try self.blockingRead(at: offset) }
    }

    package func append(_ data: Data) async throws {
        try await onWorker { try data.withUnsafeBytes { try self.blockingAppend($0) } }
    }

    private func onWorker<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.gate.schedule {
                let result = Result { try body() }
                return { continuation.resume(with: result) }
            }
        }
    }
}
