#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

extension FileSystem {

    /// The canonical path: without symbolic links and, where the volume ignores case, in the volume's spelling.
    ///
    /// - Parameter path: An absolute path. Its last components need not exist; such components are kept unchanged.
    package static func resolvedPath(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            // A path that is not UTF-8 cannot be returned.
            return String(
                validUTF8: UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
                ?? path
        }
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")), end > path.startIndex else { return path }
        let parent = resolvedPath(String(path[..<end]))
        return (parent == "/" ? "" : parent) + path[end...]
    }

    /// The names of the regular files in a folder. Names that are not UTF-8 are omitted.
    ///
    /// - Parameter limit: Maximum number of names.
    package static func files(
        in folder: Int32,
        limit: Int = .max,
        _ path: @autoclosure () -> String
    ) throws -> [String] {
        try entries(of: folder, limit: limit, path()) { name, entry in try isFile(entry, name, in: folder, path()) }
    }

    /// The names of the entries of a folder that are not regular files.
    package static func nonFiles(in folder: Int32, _ path: @autoclosure () -> String) throws -> [String] {
        try entries(of: folder, path()) { name, entry in
            guard name != ".", name != ".." else { return false }
            return try !isFile(entry, name, in: folder, path())
        }
    }

    /// The names in a folder that are not UTF-8, repaired.
    static func undecodableNames(in folder: Int32, _ path: @autoclosure () -> String) throws -> [String] {
        var names: [String] = []
        _ = try entries(of: folder, path(), onUndecodable: { names.append($0) }, where: { _, _ in false })
        return names
    }

    private static func entries(
        of folder: Int32,
        limit: Int = .max,
        _ path: @autoclosure () -> String,
        onUndecodable: (String) -> Void = { _ in },
        where isIncluded: (String, UnsafeMutablePointer<dirent>) throws -> Bool
    ) throws -> [String] {
        // A separate descriptor, because a listing moves its position and closes it.
        let flags = O_RDONLY | O_DIRECTORY
        guard let copy = try openIfPresent(".", in: folder, flags, path(), absent: []) else { return [] }
        guard let listing = fdopendir(copy) else {
            let number = errno
            close(copy)
            throw StorageError.system(number, path(), "listed")
        }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < limit {
            errno = 0
            guard let entry = readdir(listing) else {
                if errno != 0 { throw StorageError.system(errno, path(), "listed") }
                return names
            }
            if let name = name(of: entry, String.init(validatingCString:)) {
                if try isIncluded(name, entry) { names.append(name) }
            } else {
                onUndecodable(name(of: entry, String.init(cString:)))
            }
        }
        return names
    }

    /// Removes a folder and the files in it, if it exists.
    ///
    /// - Parameters:
    ///   - name: The folder's name.
    ///   - parent: The folder that it is in, open.
    ///   - path: The folder's path, for the error.
    static func removeFolder(_ name: String, in parent: Int32, _ path: @autoclosure () -> String) throws {
        guard let folder = try openIfPresent(name, in: parent, O_RDONLY | O_DIRECTORY, path()) else { return }
        defer { close(folder) }
        for entry in try entries(of: folder, path(), where: { name, _ in name != "." && name != ".." }) {
            try check(path() + "/" + entry, "removed") { unlinkat(folder, entry, 0) }
        }
        try check(path(), "removed") { unlinkat(parent, name, AT_REMOVEDIR) }
    }

    private static func name<Name>(
        of entry: UnsafeMutablePointer<dirent>, _ decode: (UnsafePointer<CChar>) -> Name
    ) -> Name {
        withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            // In bounds: the system ends a name with a NUL inside of the tuple.
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee), decode)
        }
    }

    private static func isFile(
        _ entry: UnsafeMutablePointer<dirent>,
        _ name: String,
        in folder: Int32,
        _ path: @autoclosure () -> String
    ) throws -> Bool {
        // Not every file system reports the types of the entries that it lists.
        if entry.pointee.d_type != UInt8(DT_UNKNOWN) { return entry.pointee.d_type == UInt8(DT_REG) }
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status.isFile }
        if errno == ENOENT { return false }
        throw StorageError.system(errno, path() + "/" + name, "examined")
    }
}

extension stat {
    /// Whether the status is that of a regular file, not of a folder, a link or a device.
    package var isFile: Bool { st_mode & S_IFMT == S_IFREG }
}
