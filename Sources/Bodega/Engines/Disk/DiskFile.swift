import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An item's file, open until it is released.
final class DiskFile {
    let name: String
    let descriptor: Int32
    let status: stat

    /// What the file remembers, `nil` for a file that Bodega or somebody else wrote.
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
    /// - Returns: `nil` if there is none of this name, or something else than a file.
    static func open(_ name: String, in folder: Int32, _ owner: DiskFolder) throws -> DiskFile? {
        let path = { owner.path + "/" + name }
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        if descriptor < 0, [ENOENT, ELOOP, ENXIO].contains(errno) { return nil }
        try FileSystem.check(path(), "opened") { descriptor }
        var status = stat()
        do {
            try FileSystem.check(path(), "examined") { fstat(descriptor, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                return nil
            }
            let record = try DiskAttribute.get(of: descriptor) ?? DiskSidecar.read(name, in: folder, owner)
            return DiskFile(name: name, descriptor: descriptor, status: status, record: record)
        } catch var error as StorageError {
            close(descriptor)
            error.file = URL(fileURLWithPath: path())
            throw error
        }
    }
}

extension DiskFile {

    /// The key that the file belongs to. One that only its name tells is a verbatim key.
    var key: CacheKey { record?.key ?? CacheKey(verbatim: name) }

    /// Whether the file is the item under a key, as far as it remembers. A file that doesn't know its key is the item
    /// of every key with its name.
    func belongs(to key: CacheKey) -> Bool {
        record?.key.map { $0 == key } ?? true
    }

    /// The record, made up from the file's times if there is none.
    var recordOrTimes: DiskRecord {
        if let record { return record }
        #if canImport(Darwin)
        let (modified, born) = (status.st_mtimespec, status.st_birthtimespec)
        #else
        let (modified, born) = (status.st_mtim, status.st_mtim)
        #endif
        func milliseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 }
        return DiskRecord(
            key: nil,
            order: Int64(born.tv_sec) * 1_000_000_000 + Int64(born.tv_nsec),
            createdAt: milliseconds(born),
            updatedAt: milliseconds(modified)
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
        let size = Int(status.st_size)
        if size == 0 { return Data() }
        guard let buffer = malloc(size) else {
            throw StorageError.system(ENOMEM, owner.path + "/" + name, "read")
        }
        var count = 0
        do {
            while count < size {
                let step = try FileSystem.check(owner.path + "/" + name, "read") {
                    // In bounds: count < size, and size - count bytes are left behind buffer + count.
                    pread(descriptor, buffer + count, size - count, off_t(count))
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
}
