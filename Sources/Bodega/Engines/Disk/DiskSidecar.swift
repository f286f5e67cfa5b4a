import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file beside the item's with the record that no attribute could hold.
enum DiskSidecar {
    private static func path(_ name: String) -> String { DiskName.controlFolder + "/keys/" + name }

    /// Whether the folder has sidecars at all; most never do.
    static func mayExist(in folder: Int32) -> Bool {
        faccessat(folder, DiskName.controlFolder + "/keys", F_OK, 0) == 0
    }

    /// The record in an item's sidecar, `nil` if there is none.
    static func read(_ name: String, in folder: Int32, _ owner: DiskFolder) throws -> DiskRecord? {
        let path = path(name)
        let descriptor = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT || errno == ENOTDIR { return nil }
        try FileSystem.check(owner.path + "/" + path, "opened") { descriptor }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var isAtEnd = false
        while !isAtEnd {
            try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
                let count = try FileSystem.check(owner.path + "/" + path, "read") {
                    // In bounds: at most as many bytes as the buffer has.
                    pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count))
                }
                bytes += buffer[..<count]
                isAtEnd = count == 0
            }
        }
        return DiskRecord(bytes: bytes)
    }

    /// Gives a staged sidecar the name that it belongs to.
    static func publish(_ staged: String, in folder: Int32, as name: String, _ owner: DiskFolder) throws {
        if mkdirat(folder, DiskName.controlFolder + "/keys", 0o700) != 0, errno != EEXIST {
            throw StorageError.system(errno, owner.keysPath, "created")
        }
        if renameat(folder, staged, folder, path(name)) != 0, errno != ENOENT {
            throw StorageError.system(errno, owner.path + "/" + path(name), "written")
        }
        if owner.durability == .full { try FileSystem.synchronizeDirectory(owner.keysPath) }
    }

    /// Removes an item's sidecar if there is one.
    static func remove(_ name: String, in folder: Int32) {
        unlinkat(folder, path(name), 0)
    }
}
