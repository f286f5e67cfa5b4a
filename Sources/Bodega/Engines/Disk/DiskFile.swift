import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An item's file, open as long as this object exists.
final class DiskFile {
    let name: String
    let descriptor: Int32
    let status: stat

    /// The file's record, `nil` for a file that Bodega 2 or another program wrote.
    let record: DiskRecord?

    private init(name: String, descriptor: Int32, status: stat, record: DiskRecord?) {
        self.name = name
        self.descriptor = descriptor
        self.status = status
        self.record = record
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file.
    ///
    /// - Parameter reading: The reading of the whole folder, `nil` if only this file is read.
    /// - Returns: `nil` if there is no regular file of this name.
    static func open(
        _ name: String,
        in folder: Int32,
        _ owner: DiskFolder,
        _ reading: DiskRecordCache.Reading? = nil
    ) throws -> DiskFile? {
        let path = { owner.path + "/" + name }
        while true {
            // A link, a socket or the like is not an item, and opening it must not block.
            let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
            guard
                let descriptor = try FileSystem.openIfPresent(
                    name, in: folder, flags, path(), absent: [ENOENT, ELOOP, ENXIO])
            else { return nil }
            do {
                if let file = try DiskFile(name, descriptor, in: folder, owner, reading, path) { return file }
            } catch var error as StorageError {
                close(descriptor)
                error.file = URL(fileURLWithPath: path())
                throw error
            }
            close(descriptor)
            // It was removed or replaced during the check, or it is not a regular file.
            var status = stat()
            if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !status.isFile { return nil }
        }
    }

    /// - Returns: `nil` if the descriptor is not that of a regular file, or the file has lost its name.
    private convenience init?(
        _ name: String,
        _ descriptor: Int32,
        in folder: Int32,
        _ owner: DiskFolder,
        _ reading: DiskRecordCache.Reading?,
        _ path: () -> String
    ) throws {
        var status = stat()
        try FileSystem.check(path(), "examined") { fstat(descriptor, &status) }
        guard status.isFile else { return nil }
        var record = try reading.map { try $0.record(of: descriptor, status) } ?? DiskAttribute.get(of: descriptor)
        if record == nil {
            record = try DiskSidecar.read(name, in: folder, owner)
            // A file without a record of its own may just have been removed together with its sidecar.
            var named = stat()
            let hasName = fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
            guard hasName, named.st_ino == status.st_ino, named.st_dev == status.st_dev else { return nil }
        }
        // A copied or renamed file still has the original's key, which no longer fits its name.
        if let key = record?.key,
            try !DiskName.file(name, canBeOf: key, where: { try status.isFound(by: $0, in: folder, path()) })
        {
            record?.key = nil
        }
        self.init(name: name, descriptor: descriptor, status: status, record: record)
    }
}

extension DiskFile {

    /// The key of the file's item: that of its record, otherwise a verbatim key with the file's name.
    var key: CacheKey { record?.key ?? CacheKey(verbatim: name) }

    /// The record, or one made from the file's times if there is none.
    var recordOrTimes: DiskRecord {
        if let record { return record }
        #if canImport(Darwin)
        let (modified, born) = (status.st_mtimespec, status.st_birthtimespec)
        #else
        let (modified, born) = (status.st_mtim, status.st_mtim)
        #endif
        return DiskRecord(
            key: nil,
            order: born.nanoseconds,
            createdAt: born.milliseconds,
            updatedAt: modified.milliseconds
        )
    }

    /// When the file was last read or written, as far as the volume keeps track.
    var lastAccessed: Date {
        #if canImport(Darwin)
        let time = status.st_atimespec
        #else
        let time = status.st_atim
        #endif
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    /// Reads the whole file.
    func read(_ owner: DiskFolder) throws -> Data {
        try FileSystem.read(descriptor, size: Int(status.st_size), owner.path + "/" + name)
    }

    /// The file's bytes. The file stays open as long as the stream exists, so it can be replaced or removed.
    func stream(_ owner: DiskFolder) throws -> StreamFile {
        let path = owner.path + "/" + name
        let copy = try FileSystem.check(path, "read") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        return StreamFile(descriptor: copy, count: Int(status.st_size), path: path)
    }
}

extension stat {
    /// Whether a name in a folder leads to the file with this status.
    fileprivate func isFound(by name: String, in folder: Int32, _ path: @autoclosure () -> String) throws -> Bool {
        var named = stat()
        if fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 {
            return named.st_ino == st_ino && named.st_dev == st_dev
        }
        if errno == ENOENT { return false }
        throw StorageError.system(errno, path(), "examined")
    }
}

extension timespec {
    /// The nanoseconds since 1970, clamped to the range of 64 bits, the years 1678 to 2262.
    var nanoseconds: Int64 { count(per: 1_000_000_000) }

    /// The milliseconds since 1970, rounded down.
    var milliseconds: Int64 { count(per: 1_000) }

    /// The number of parts of a second since 1970, rounded down and clamped to the range of 64 bits.
    private func count(per second: Int64) -> Int64 {
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: second)
        let (sum, secondOverflow) = product.addingReportingOverflow(Int64(tv_nsec) / (1_000_000_000 / second))
        if overflow || secondOverflow { return tv_sec < 0 ? .min : .max }
        return sum
    }
}
