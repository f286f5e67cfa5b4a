import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What identifies the contents of a write-ahead log: its size, and its header, which has other salts each time that
/// the log begins again.
///
/// Source: https://www.sqlite.org/fileformat.html#the_write_ahead_log
struct SQLiteLogFile: Equatable {
    private static let headerSize = 32

    private let size: off_t
    private let header: [UInt8]

    var salts: ArraySlice<UInt8> { header[16..<24] }

    /// - Returns: `nil` if the file can't be read, or has no header yet.
    init?(_ path: String) {
        // SQLite takes no locks on this file, so that closing it releases none.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let header = bytes(Self.headerSize, of: descriptor) else { return nil }
        (size, self.header) = (status.st_size, header)
    }
}

/// The index of a write-ahead log, a file that programs share as memory.
///
/// Source: https://www.sqlite.org/walformat.html#the_wal_index_file_format
struct SQLiteIndexFile {
    private static let headerSize = 48

    /// The files that were opened. Closing one would release all locks that connections of this process have on it, so
    /// each stays open until it is removed from the disk.
    private static let opened = Locked<[SQLiteReadRegistry.Identity: Int32]>([:])

    /// The salts of the log to which the index belongs.
    let salts: ArraySlice<UInt8>

    /// - Returns: `nil` if the file can't be read, or has no header yet.
    init?(_ path: String) {
        guard let descriptor = Self.descriptor(path), let header = bytes(Self.headerSize, of: descriptor) else {
            return nil
        }
        salts = header[32..<40]
    }

    private static func descriptor(_ path: String) -> Int32? {
        opened.withLock { opened in
            for (identity, descriptor) in opened where isRemoved(descriptor) {
                close(descriptor)
                opened[identity] = nil
            }
            guard let identity = SQLiteReadRegistry.Identity(path) else { return nil }
            if let known = opened[identity] { return known }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            // Another file may have taken the path since then. It is read again when that is noticed.
            opened[identity] = descriptor
            return descriptor
        }
    }

    private static func isRemoved(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }
}

/// The first bytes of a file, `nil` if it has fewer.
private func bytes(_ count: Int, of descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, 0) == count ? bytes : nil
}
