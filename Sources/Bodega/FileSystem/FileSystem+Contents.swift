package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension FileSystem {

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open.
    ///   - size: The file's size. If it has become shorter, that much is read.
    ///   - path: The file's path, for the error.
    package static func read(_ descriptor: Int32, size: Int, _ path: @autoclosure () -> String) throws -> Data {
        if size == 0 { return Data() }
        guard let buffer = malloc(size) else { throw StorageError.system(ENOMEM, path(), "read") }
        var count = 0
        do {
            while count < size {
                let step = try check(path(), "read") {
                    // In bounds: count < size, and size - count bytes are left behind buffer + count.
                    pread(descriptor, buffer + count, min(size - count, largestTransfer), off_t(count))
                }
                if step == 0 { break }
                count += step
            }
        } catch {
            free(buffer)
            throw error
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }

    /// What a file that takes the place of others, or is made from them, may allow: no more than any of them.
    ///
    /// - Parameter originals: The others.
    package static func permissions(of originals: [stat]) -> mode_t {
        // The owner must be able to write it.
        originals.reduce(0o777) { $0 & $1.st_mode } | 0o600
    }

    /// Takes from the group of a file that was just created what the group of another was not meant to share with it.
    ///
    /// - Parameters:
    ///   - descriptor: The file that was created with the permissions of the other.
    ///   - original: The other.
    package static func protect(_ descriptor: Int32, as original: stat, _ path: @autoclosure () -> String) throws {
        var status = stat()
        try check(path(), "examined") { fstat(descriptor, &status) }
        if status.st_gid == original.st_gid { return }
        // This group may do what all others may.
        let mode = status.st_mode & 0o777
        try check(path(), "protected") { fchmod(descriptor, mode & (0o707 | (mode & 0o007) << 3)) }
    }

    /// Creates an empty file that no more users may read than may read others.
    ///
    /// - Parameters:
    ///   - url: Where the file is to be; nothing may be there.
    ///   - originals: The others.
    package static func createEmptyFile(at url: URL, as originals: [stat]) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let permissions = Self.permissions(of: originals)
        let descriptor = try check(url.path, "created") { open(url.path, flags, permissions) }
        defer { close(descriptor) }
        for original in originals { try protect(descriptor, as: original, url.path) }
    }

    /// Creates a file with its content, in place of one that a crash left. If that fails there is none.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - folder: The folder for it, open.
    ///   - permissions: Who may use it; those that the process is not to give, by its umask, are left out.
    ///   - original: The file that has these permissions, if they are those of another. The new one gets its owner and
    ///     group, too, if possible; no other group gets what was not meant for it.
    ///   - data: What the file holds.
    ///   - path: The file's path, for the error.
    ///   - finish: Does something more with the file, such as making it durable, before it is closed.
    /// - Returns: What `finish` returns.
    package static func createFile<Result>(
        _ name: String,
        in folder: Int32,
        permissions: mode_t,
        as original: stat? = nil,
        _ data: Data,
        _ path: @autoclosure () -> String,
        finish: (_ descriptor: Int32) throws -> Result
    ) throws -> Result {
        let descriptor = try check(path(), "created") { () -> Int32 in
            // What a crash left is not used again: it could have attributes or permissions of its own.
            if unlinkat(folder, name, 0) != 0, errno != ENOENT { return -1 }
            return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        }
        defer { close(descriptor) }
        do {
            // Only root may give a file to its owner; a group must be one of our own.
            if let original, fchown(descriptor, original.st_uid, original.st_gid) != 0 {
                try protect(descriptor, as: original, path())
            }
            try data.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = try check(path(), "written") {
                        // In bounds: the address and size of `rest`, which is not empty.
                        write(
                            descriptor,
                            UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                            min(rest.count, largestTransfer)
                        )
                    }
                    rest = rest.dropFirst(count)
                }
            }
            return try finish(descriptor)
        } catch {
            // The space is needed now, not when somebody cleans up.
            unlinkat(folder, name, 0)
            throw error
        }
    }
}
