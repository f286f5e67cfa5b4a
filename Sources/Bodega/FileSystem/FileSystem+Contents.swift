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

    /// Permissions that let a group do no more than all others.
    ///
    /// A new file has them until it has the right group: a file that is open for reading stays so when its permissions
    /// change.
    private static func withoutGroup(_ permissions: mode_t) -> mode_t {
        permissions & (0o707 | (permissions & 0o007) << 3)
    }

    /// Gives the group of a new file what was left out by ``withoutGroup(_:)``.
    private static func addGroup(
        _ permissions: mode_t, to descriptor: Int32, _ path: @autoclosure () -> String
    ) throws {
        if withoutGroup(permissions) == permissions { return }
        var status = stat()
        try check(path(), "examined") { fstat(descriptor, &status) }
        try check(path(), "shared with its group") {
            fchmod(descriptor, status.st_mode & 0o777 | permissions & 0o070)
        }
    }

    /// Creates an empty file that no more users may read than may read others.
    ///
    /// - Parameters:
    ///   - url: Where the file is to be; nothing may be there.
    ///   - originals: The others.
    package static func createEmptyFile(at url: URL, as originals: [stat]) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let permissions = Self.permissions(of: originals)
        let descriptor = try check(url.path, "created") { open(url.path, flags, withoutGroup(permissions)) }
        defer { close(descriptor) }
        var status = stat()
        try check(url.path, "examined") { fstat(descriptor, &status) }
        if originals.allSatisfy({ $0.st_gid == status.st_gid }) {
            try addGroup(permissions, to: descriptor, url.path)
        }
    }

    /// Creates a file with its content, in place of one that a crash left. If that fails there is none.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - folder: The folder for it, open.
    ///   - permissions: The permissions, less those of the umask.
    ///   - original: The file that has these permissions, if they are those of another. The new one gets its owner and
    ///     its group, too, each if possible; no other group gets permissions of this group.
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
        let initial = original == nil ? permissions : withoutGroup(permissions)
        let descriptor = try check(path(), "created") { () -> Int32 in
            // What a crash left is not used again: it could have attributes or permissions of its own.
            if unlinkat(folder, name, 0) != 0, errno != ENOENT { return -1 }
            return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, initial)
        }
        defer { close(descriptor) }
        do {
            // Only root may give a file to another owner; any process may give it to a group of its own.
            if let original,
                fchown(descriptor, original.st_uid, original.st_gid) == 0
                    || fchown(descriptor, uid_t.max, original.st_gid) == 0
            {
                try addGroup(permissions, to: descriptor, path())
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
