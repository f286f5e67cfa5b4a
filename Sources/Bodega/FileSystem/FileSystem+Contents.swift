package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension FileSystem {

    /// Reads a file, or a part of it.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open.
    ///   - start: The place of the first byte to read.
    ///   - size: The number of bytes. If the file has become shorter, reading ends at its end.
    ///   - path: The file's path, for the error.
    package static func read(
        _ descriptor: Int32, from start: Int = 0, size: Int, _ path: @autoclosure () -> String
    ) throws -> Data {
        if size == 0 { return Data() }
        guard let buffer = malloc(size) else { throw StorageError.system(ENOMEM, path(), "read") }
        var count = 0
        do {
            while count < size {
                let step = try check(path(), "read") {
                    // In bounds: count < size, and size - count bytes are left behind buffer + count.
                    pread(descriptor, buffer + count, min(size - count, largestTransfer), off_t(start + count))
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

    /// Appends bytes to an open file.
    ///
    /// - Parameters:
    ///   - path: The file's path, for the error.
    ///   - what: The failed action, for the error, see ``check(_:_:_:)``.
    package static func append(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: @autoclosure () -> String,
        _ what: String = "written"
    ) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try check(path(), what) {
                // In bounds: the address and size of `rest`, which is not empty.
                write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, min(rest.count, largestTransfer))
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The permissions for a file that replaces other files or is made from them: those that all of them grant.
    ///
    /// - Parameter originals: The statuses of the other files.
    package static func permissions(of originals: [stat]) -> mode_t {
        // The owner must be able to write it.
        originals.reduce(0o777) { $0 & $1.st_mode } | 0o600
    }

    /// Permissions that grant the group no more than all other users.
    ///
    /// A new file has them until its group is set: a process that has opened it keeps access when they change.
    private static func withoutGroup(_ permissions: mode_t) -> mode_t {
        permissions & (0o707 | (permissions & 0o007) << 3)
    }

    /// Grants the group of a new file the permissions that ``withoutGroup(_:)`` has withheld.
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

    /// Creates an empty file that grants no more than other files do.
    ///
    /// - Parameters:
    ///   - url: Where to create the file; nothing may exist there.
    ///   - originals: The statuses of the other files.
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

    /// Creates a file with its content, replacing one that a crash left behind. If that fails, no file remains.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - folder: The folder for it, open.
    ///   - permissions: The permissions, before the umask is applied.
    ///   - original: The file that the permissions were taken from, if any. The new file also gets its owner and its
    ///     group, each if possible. A group that is not the original's never gets the permissions of that group.
    ///   - data: The file's content.
    ///   - path: The file's path, for the error.
    ///   - finish: Runs before the file is closed, for example to make it durable.
    /// - Returns: The result of `finish`.
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
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
            let descriptor = openat(folder, name, flags, initial)
            if descriptor >= 0 || errno != EEXIST { return descriptor }
            // A leftover file is not reused: it could have attributes or permissions of its own.
            if unlinkat(folder, name, 0) != 0, errno != ENOENT { return -1 }
            return openat(folder, name, flags, initial)
        }
        defer { close(descriptor) }
        do {
            // Only root may give a file to another owner; any process may give it to one of its groups.
            if let original,
                fchown(descriptor, original.st_uid, original.st_gid) == 0
                    || fchown(descriptor, uid_t.max, original.st_gid) == 0
            {
                try addGroup(permissions, to: descriptor, path())
            }
            try data.withUnsafeBytes { try append($0, to: descriptor, path()) }
            return try finish(descriptor)
        } catch {
            // Frees the space now, not at the next cleanup.
            unlinkat(folder, name, 0)
            throw error
        }
    }
}
