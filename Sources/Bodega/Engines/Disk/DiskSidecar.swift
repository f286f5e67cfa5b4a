import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file for an item's record if no attribute can hold it.
enum DiskSidecar {
    /// The path of an item's sidecar, relative to the items' folder.
    static func path(_ name: String) -> String { DiskName.controlFolder + "/keys/" + name }

    /// Whether the folder may have sidecars; most folders never do.
    static func mayExist(in folder: Int32, _ owner: DiskFolder) throws -> Bool {
        try FileSystem.exists(DiskName.controlFolder + "/keys", in: folder, owner.keysPath)
    }

    /// The record in an item's sidecar, `nil` if there is none.
    static func read(_ name: String, in folder: Int32, _ owner: DiskFolder) throws -> DiskRecord? {
        try bytes(name, in: folder, owner)?.withUnsafeBytes { DiskRecord(bytes: $0) }
    }

    /// The bytes of an item's sidecar, which may be damaged; `nil` if there is none.
    static func bytes(_ name: String, in folder: Int32, _ owner: DiskFolder) throws -> [UInt8]? {
        let path = owner.path + "/" + path(name)
        // A link, a pipe or the like is not a sidecar, and opening it must not block.
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
        return bytes
    }

    /// Creates the folder of the sidecars.
    static func prepare(in folder: Int32, _ owner: DiskFolder) throws {
        if mkdirat(folder, DiskName.controlFolder + "/keys", 0o700) == 0 {
            bodegaLogger.debug(
                "The volume supports no extended attributes of sufficient size, so records are kept in separate files.",
                metadata: ["folder": "\(owner.path)"]
            )
            if owner.durability == .full { try FileSystem.synchronizeDirectory(owner.controlPath) }
        } else if errno != EEXIST {
            throw StorageError.system(errno, owner.keysPath, "created")
        }
    }

    /// Removes an item's sidecar if there is one. A sidecar that can't be removed is harmless: sidecars are read only
    /// for files without a record in their attributes.
    static func remove(_ name: String, in folder: Int32) {
        if unlinkat(folder, path(name), 0) != 0, errno != ENOENT, errno != ENOTDIR {
            bodegaLogger.warning(
                "A record that is no longer needed could not be removed.",
                metadata: ["file": "\(path(name))", "errno": "\(errno)"]
            )
        }
    }
}
