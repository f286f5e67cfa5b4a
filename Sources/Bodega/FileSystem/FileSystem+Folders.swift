#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

extension FileSystem {

    /// The one path that all paths of a file or folder have in common: without symbolic links and, where the volume ignores
    /// case, as it is written there.
    ///
    /// - Parameter path: An absolute path. Its last parts need not be there; they stay as they are.
    package static func resolvedPath(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            // A path that isn't text has no other name.
            return String(
                validUTF8: UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
                ?? path
        }
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")), end > path.startIndex else { return path }
        let parent = resolvedPath(String(path[..<end]))
        return (parent == "/" ? "" : parent) + path[end...]
    }

    /// The names of the files in a folder, without folders, links and what else is no file. Names that aren't text are
    /// left out.
    ///
    /// - Parameter limit: How many names are wanted at most.
    package static func files(
        in folder: Int32,
        limit: Int = .max,
        _ path: @autoclosure () -> String
    ) throws -> [String] {
        try entries(of: folder, limit: limit, path()) { name, entry in try isFile(entry, name, in: folder, path()) }
    }

    /// The names of what is in a folder and is no file.
    package static func others(in folder: Int32, _ path: @autoclosure () -> String) throws -> [String] {
        try entries(of: folder, path()) { name, entry in
            guard name != ".", name != ".." else { return false }
            return try !isFile(entry, name, in: folder, path())
        }
    }

    private static func entries(
        of folder: Int32,
        limit: Int = .max,
        _ path: @autoclosure () -> String,
        where isIncluded: (String, UnsafeMutablePointer<dirent>) throws -> Bool
    ) throws -> [String] {
        // A descriptor of its own, because a listing moves its position and closes it.
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
            if let name = name(of: entry), try isIncluded(name, entry) { names.append(name) }
        }
        return names
    }

    /// Removes a folder of ours and what is in it, if it is there.
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

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            // In bounds: the system ends a name with a NUL inside of the tuple.
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                String(validatingCString: $0)
            }
        }
    }

    private static func isFile(
        _ entry: UnsafeMutablePointer<dirent>,
        _ name: String,
        in folder: Int32,
        _ path: @autoclosure () -> String
    ) throws -> Bool {
        // Not every file system says in its listing what an entry is.
        if entry.pointee.d_type != UInt8(DT_UNKNOWN) { return entry.pointee.d_type == UInt8(DT_REG) }
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status.isFile }
        if errno == ENOENT { return false }
        throw StorageError.system(errno, path() + "/" + name, "examined")
    }
}

extension stat {
    /// Whether it describes a file, and not a folder, a link or a device.
    package var isFile: Bool { st_mode & S_IFMT == S_IFREG }
}
