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

    /// Creates a file with its content, in place of one that a crash left. If that fails there is none.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - folder: The folder for it, open.
    ///   - permissions: Who may use it; those that the process is not to give, by its umask, are left out.
    ///   - data: What the file holds.
    ///   - path: The file's path, for the error.
    ///   - finish: Does something more with the file, such as making it durable, before it is closed.
    /// - Returns: What `finish` returns.
    package static func createFile<Result>(
        _ name: String,
        in folder: Int32,
        permissions: mode_t,
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
