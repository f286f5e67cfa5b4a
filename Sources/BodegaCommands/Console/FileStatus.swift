import Foundation

/// The result of `stat` or `lstat` for a file.
struct FileStatus {
    let isFolder: Bool
    /// Whether it is a regular file: neither a folder nor a link, a device, a pipe or a socket.
    let isRegular: Bool
    /// The number of bytes in the file.
    let size: Int
    /// The number of bytes that the volume has allocated for it.
    let allocatedBytes: Int
    /// Its permissions: the lowest nine bits of its mode.
    let permissions: mode_t
    let owner: uid_t
    let group: gid_t
    /// Its volume and its number there, which no other existing file has.
    let identity: [UInt64]

    /// Reads the status of an open file.
    ///
    /// - Returns: `nil`, with `errno` set, if the status can't be read.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the status of a file.
    ///
    /// - Parameters:
    ///   - path: Where the file is, in the encoding of the volume, without a NUL at its end.
    ///   - followingLinks: Whether a symbolic link stands for the file that it names.
    /// - Returns: `nil`, with `errno` set, if the status can't be read.
    init?(path: [UInt8], followingLinks: Bool) {
        var status = stat()
        let result = (path + [0]).withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { path in
                guard let path = path.baseAddress else { return Int32(-1) }
                return followingLinks ? stat(path, &status) : lstat(path, &status)
            }
        }
        guard result == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int(status.st_size)
        // In units of 512 bytes, also on volumes with other blocks.
        allocatedBytes = Int(status.st_blocks) * 512
        permissions = status.st_mode & 0o777
        (owner, group) = (status.st_uid, status.st_gid)
        identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
    }
}
