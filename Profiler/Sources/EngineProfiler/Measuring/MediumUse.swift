import Foundation

/// What an engine takes up on its medium.
struct MediumUse: Codable, Equatable, Sendable {
    /// The bytes in its files.
    var bytes: Int
    /// The bytes that the file system has set aside for them.
    var allocated: Int
    /// How many files there are.
    var files: Int

    /// Adds up all files.
    ///
    /// - Parameter urls: Files, and folders with all that is in them. What does not exist counts nothing.
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
        // A folder's own blocks are part of the price of many files.
        allocated += Int(status.st_blocks) * 512
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        bytes += Int(status.st_size)
        files += 1
    }
}
