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

    /// Whether it has nothing but its header.
    var isEmpty: Bool { size == Self.headerSize }

    /// - Returns: `nil` if the file can't be read, or has no header yet.
    init?(_ path: String) {
        // SQLite takes no locks on this file, so that closing it releases none.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        var header = [UInt8](repeating: 0, count: Self.headerSize)
        guard fstat(descriptor, &status) == 0, pread(descriptor, &header, header.count, 0) == header.count else {
            return nil
        }
        (size, self.header) = (status.st_size, header)
    }
}
