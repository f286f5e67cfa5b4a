import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file beside the item's with the record that no attribute could hold.
enum DiskSidecar {
    /// Where an item's sidecar is, from the items' folder.
    static func path(_ name: String) -> String { DiskName.controlFolder + "/keys/" + name }

    /// Whether the folder has sidecars at all; most never do.
    static func mayExist(in folder: Int32, _ owner: DiskFolder) throws -> Bool {
        try FileSystem.exists(DiskName.controlFolder + "/keys", in: folder, owner.keysPath)
    }

    /// The record in an item's sidecar, `nil` if there is none.
    static func read(_ name: String, in folder: Int32, _ owner: DiskFolder) throws -> DiskRecord? {
        let path = owner.path + "/" + path(name)
        // A link, a pipe or the like is no sidecar; opening one must not wait for a process at its other end.
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
        guard
            let descriptor = try FileSystem.openIfPresent(
                self.path(name), in: folder, flags, path, absent: [ENOENT, ENOTDIR, ELOOP, ENXIO])
        else { return nil }
        defer { close(descriptor) }
        var status = stat()
        try FileSystem.check(path, "examined") { fstat(descriptor, &status) }
        guard status.isFile else { return nil }
        var bytes: [UInt8] = []
        var isAtEnd = false
        while !isAtEnd {
            try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
                let count = try FileSystem.check(path, "read") {
                    // In bounds: at most as many bytes as the buffer has.
                    pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count))
                }
                bytes += buffer[..<count]
                isAtEnd = count == 0
            }
        }
        return bytes.withUnsafeBytes { DiskRecord(bytes: $0) }
    }

    /// Makes the folder of the sidecars.
    static func prepare(in folder: Int32, _ owner: DiskFolder) throws {
        if mkdirat(folder, DiskName.controlFolder + "/keys", 0o700) == 0 {
            bodegaLogger.debug(
                "The volume keeps no attributes, or too short ones, so files of their own take their place.",
                metadata: ["folder": "\(owner.path)"]
            )
            if owner.durability == .full { try FileSystem.synchronizeDirectory(owner.controlPath) }
        } else if errno != EEXIST {
            throw StorageError.system(errno, owner.keysPath, "created")
        }
    }

    /// Removes an item's sidecar if there is one. One that stays does no harm: it is asked only for files that don't
    /// hold their record themselves.
    static func remove(_ name: String, in folder: Int32) {
        if unlinkat(folder, path(name), 0) != 0, errno != ENOENT, errno != ENOTDIR {
            bodegaLogger.warning(
                "A record that is not needed any more could not be removed.",
                metadata: ["file": "\(path(name))", "errno": "\(errno)"]
            )
        }
    }
}
