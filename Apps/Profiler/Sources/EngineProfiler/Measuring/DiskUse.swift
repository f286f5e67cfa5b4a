import Foundation

/// The space that an engine uses on disk.
struct DiskUse: Codable, Equatable, Sendable {
    /// The size of its files, in bytes.
    var bytes: Int
    /// The space that the file system has allocated for them, in bytes.
    var allocated: Int
    /// The number of files.
    var files: Int

    /// Adds up the sizes of all files.
    ///
    /// - Parameter urls: Files, and folders with all of their contents. Missing files are skipped.
    init(of urls: [URL]) throws {
        bytes = 0
        allocated = 0
        files = 0
        for url in urls {
            try add(url.path)
            guard let paths = FileManager.default.enumerator(atPath: url.path) else { continue }
            for case let path as String in paths { try add(url.path + "/" + path) }
        }
    }

    private mutating func add(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        // The blocks of a folder are part of the cost of many files.
        allocated += Int(status.st_blocks) * 512
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        bytes += Int(status.st_size)
        files += 1
    }
}
