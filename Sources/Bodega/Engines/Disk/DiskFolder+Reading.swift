import Dispatch
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskFolder {

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try reading { folder in try withFile(of: key, in: folder) { try $0.read(self) } }
    }

    /// The items that exist, in the order of the keys.
    package func items(of keys: [CacheKey]) throws -> [(key: CacheKey, data: Data)] {
        try readingMany { folder in
            try concurrently(keys) { key in
                try self.withFile(of: key, in: folder) { (key, try $0.read(self)) }
            }
        }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try inOrder { file in (file.key, try file.read(self)) }
    }

    /// All keys in insertion order.
    package func allKeys() throws -> [CacheKey] {
        try inOrder(\.key)
    }

    /// Those of the keys whose items exist, in their order.
    package func existing(among keys: [CacheKey]) throws -> [CacheKey] {
        try readingMany { folder in
            try concurrently(keys) { key in try self.withFile(of: key, in: folder) { _ in key } }
        }
    }

    /// The number of items.
    package func count() throws -> Int {
        try readingMany { folder in try names(in: folder).count }
    }

    /// When an item was first and last written.
    package func dates(of key: CacheKey) throws -> StorageDates? {
        try reading { folder in try withFile(of: key, in: folder) { $0.recordOrTimes.dates } }
    }

    /// When an item's file was last read or written.
    package func lastAccessed(key: CacheKey) throws -> Date? {
        try reading { folder in try withFile(of: key, in: folder) { $0.lastAccessed } }
    }

    /// Opens the file of a key, wherever ``DiskName`` lets it be.
    ///
    /// - Returns: `nil` if there is none.
    func withFile<Result>(
        of key: CacheKey,
        in folder: Int32,
        _ body: (DiskFile) throws -> Result
    ) throws -> Result? {
        let name = DiskName(key)
        guard let home = name.home else {
            guard let file = try DiskFile.open(name.detour, in: folder, self), file.belongs(to: key) else { return nil }
            return try body(file)
        }
        let file = try DiskFile.open(home, in: folder, self)
        if let file, file.record?.key == key { return try body(file) }
        // Nobody's file is at home when the key is known to be elsewhere.
        if key.kind != .hashed, let detour = try DiskFile.open(name.detour, in: folder, self), detour.belongs(to: key) {
            return try body(detour)
        }
        if let file, file.belongs(to: key) { return try body(file) }
        return nil
    }

    /// The names of the files that are items.
    func names(in folder: Int32) throws -> [String] {
        // A descriptor of its own, because a listing moves its position and closes it.
        let copy = try FileSystem.check(path, "opened") { openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(copy) else {
            close(copy)
            throw StorageError.system(errno, path, "listed")
        }
        defer { closedir(listing) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(listing) else {
                if errno != 0 { throw StorageError.system(errno, path, "listed") }
                return names
            }
            guard try isFile(entry, in: folder) else { continue }
            if let name = name(of: entry), DiskName.canBeItem(name) { names.append(name) }
        }
    }

    private func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            // A name ends with a NUL inside of the tuple.
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                // A name that isn't text can't be a key's.
                String(validatingCString: $0)
            }
        }
    }

    private func isFile(_ entry: UnsafeMutablePointer<dirent>, in folder: Int32) throws -> Bool {
        if entry.pointee.d_type != UInt8(DT_UNKNOWN) { return entry.pointee.d_type == UInt8(DT_REG) }
        guard let name = name(of: entry) else { return false }
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            if errno == ENOENT { return false }
            throw StorageError.system(errno, path + "/" + name, "examined")
        }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Opens every item's file and returns what a closure makes of them, in insertion order.
    private func inOrder<Element>(_ element: (DiskFile) throws -> Element) throws -> [Element] {
        try readingMany { folder in
            let found = try concurrently(try names(in: folder)) { name -> (Int64, String, Element)? in
                // An item that is removed meanwhile has no file any more.
                guard let file = try DiskFile.open(name, in: folder, self) else { return nil }
                return (file.recordOrTimes.order, name, try element(file))
            }
            return found.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
        }
    }
}

/// Transforms elements on all cores and keeps their order; `nil` results are left out.
///
/// - Throws: The error of the first element that had one.
private func concurrently<Input, Output>(
    _ inputs: [Input],
    _ transform: (Input) throws -> Output?
) throws -> [Output] {
    let chunkSize = 64
    if inputs.count <= chunkSize { return try inputs.compactMap(transform) }
    let chunks = (inputs.count + chunkSize - 1) / chunkSize
    var results = [Result<[Output], any Error>?](repeating: nil, count: chunks)
    results.withUnsafeMutableBufferPointer { buffer in
        // Each iteration writes to its own element, `chunk` < `chunks`, and all are done when the call returns.
        nonisolated(unsafe) let buffer = buffer
        nonisolated(unsafe) let transform = transform
        nonisolated(unsafe) let inputs = inputs
        DispatchQueue.concurrentPerform(iterations: chunks) { chunk in
            let range = chunk * chunkSize..<min((chunk + 1) * chunkSize, inputs.count)
            buffer[chunk] = Result { try inputs[range].compactMap(transform) }
        }
    }
    var outputs: [Output] = []
    outputs.reserveCapacity(inputs.count)
    for result in results { outputs += try result?.get() ?? [] }
    return outputs
}
