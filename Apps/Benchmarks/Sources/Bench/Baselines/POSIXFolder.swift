import BenchHarness
import Bodega
import CSync
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A folder with one file for each item, used through system calls.
final class POSIXFolder {
    private let path: String
    private let descriptor: CInt

    /// Opens an existing folder.
    init(_ url: URL) throws {
        path = url.path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(descriptor, "open")
    }

    deinit {
        close(descriptor)
    }

    /// Writes each item to a temporary file, renames the file to the value of the item's key, and then makes all files
    /// durable with one sync.
    func write(_ items: [(key: CacheKey, data: Data)]) throws {
        for (number, item) in items.enumerated() {
            try write(item.data, name: item.key.value, by: ".new-\(number)") { _ in }
        }
        try synchronize()
    }

    /// Writes data to a temporary file, syncs the file, renames it, and syncs the new name.
    func writeDurably(_ data: Data, name: String) throws {
        try write(data, name: name, by: ".new") { try check(fsync($0), "fsync") }
        try synchronizeEntries()
    }

    /// Syncs the names of the files.
    func synchronizeEntries() throws {
        try check(fsync(descriptor), "fsync")
    }

    private func write(
        _ data: Data,
        name: String,
        by temporary: String,
        whenWritten: (_ file: CInt) throws -> Void
    ) throws {
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(file, "openat")
        defer { close(file) }
        let count = data.withUnsafeBytes { writeBytes(file, $0.baseAddress, $0.count) }
        guard count == data.count else { throw VerificationFailure("wrote \(count) bytes, errno \(errno)") }
        try whenWritten(file)
        try check(renameat(descriptor, temporary, descriptor, name), "renameat")
    }

    /// Reads all files in the order of the folder's listing.
    func readAll() throws -> [Data] {
        try names().map { name in
            let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
            try check(file, "openat")
            defer { close(file) }
            let size = Int(bench_file_size(file))
            try check(Int32(clamping: size), "fstat")
            guard size > 0, let bytes = malloc(size) else { return Data() }
            let data = Data(bytesNoCopy: bytes, count: size, deallocator: .free)
            let count = readBytes(file, bytes, size)
            guard count == size else { throw VerificationFailure("read \(count) of \(size) bytes, errno \(errno)") }
            return data
        }
    }

    /// Removes all files durably.
    func removeAll() throws {
        for name in try names() {
            try check(unlinkat(descriptor, name, 0), "unlinkat")
        }
        try check(fsync(descriptor), "fsync")
    }

    /// The number of files.
    func count() throws -> Int {
        try names().count
    }

    /// The names of the files as C strings, without those that begin with a dot.
    private func names() throws -> [[CChar]] {
        guard let stream = opendir(path) else { throw VerificationFailure("opendir failed, errno \(errno)") }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 1) { characters in
                    Array(UnsafeBufferPointer(start: characters, count: strlen(characters) + 1))
                }
            }
            if name[0] != CChar(bitPattern: UInt8(ascii: ".")) { names.append(name) }
        }
        return names
    }

    /// Syncs the folder's file system with one call.
    private func synchronize() throws {
        try check(bench_sync_file_system(descriptor), "syncfs")
    }
}

// Outside of the class, because `write` names a method there.
private func writeBytes(_ file: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(file, bytes, count) }
private func readBytes(_ file: CInt, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int { read(file, bytes, count) }

private func check(_ code: CInt, _ call: String) throws {
    if code < 0 { throw VerificationFailure("\(call) failed, errno \(errno)") }
}
