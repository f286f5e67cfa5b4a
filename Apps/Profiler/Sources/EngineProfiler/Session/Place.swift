import Bodega
import Foundation

/// The place of an engine's items while it is profiled. It is empty before and after.
struct Place: Sendable {

    private enum Target: Sendable {
        case address(StorageAddress)
        case custom(ProfiledEngine, folder: URL)
    }

    private let target: Target
    /// Whether the folder existed before the run. It is kept then, because its owner and permissions may matter to the
    /// user.
    private var isFolderKept = false

    /// Creates a place for an engine of this package.
    init(_ address: StorageAddress) {
        target = .address(address)
        if let url = address.fileURL { isFolderKept = FileManager.default.fileExists(atPath: url.path) }
    }

    /// Creates a place for a custom engine.
    init(_ engine: ProfiledEngine, folder: URL) {
        target = .custom(engine, folder: folder)
    }

    /// Whether the items survive closing the engine.
    var isPersistent: Bool {
        if case .address(.memory) = target { return false }
        return true
    }

    /// The files and folders that the engine writes.
    var urls: [URL] {
        switch target {
        case .custom(_, let folder): return [folder]
        case .address(let address):
            guard let url = address.fileURL else { return [] }
            if address.engine == .disk { return [url] }
            // See https://www.sqlite.org/tempfiles.html
            return ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: address.path + $0) }
        }
    }

    /// Checks that the place is empty.
    ///
    /// - Throws: A ``ProfilerError`` if it is not.
    func checkIsFree() throws {
        for url in urls {
            let parent = url.deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue else {
                throw ProfilerError("The folder \(parent) does not exist. Create it first.")
            }
            if try Self.isTaken(url.path) {
                throw ProfilerError(
                    "\(url.path) already exists, and profiling would write to it. Choose a path that does not exist, "
                        + "or use the engine's name without a path for a temporary folder.")
            }
        }
    }

    /// Whether a path is anything but missing or an empty folder.
    private static func isTaken(_ path: String) throws -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFDIR else { return true }
        return try !FileManager.default.contentsOfDirectory(atPath: path).isEmpty
    }

    /// Opens the engine.
    func open(durability: StorageDurability) async throws -> any StorageEngine {
        switch target {
        case .address(let address):
            return try address.open(durability: durability)
        case .custom(let engine, let folder):
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return try await engine.open(folder)
        }
    }

    /// Closes an engine if it has a method for that; otherwise it closes when it is released.
    static func close(_ engine: any StorageEngine) async throws {
        try await (engine as? SQLiteStorageEngine)?.close()
    }

    /// Removes the engine's data.
    func clear() throws {
        for url in urls {
            if isFolderKept {
                for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
                    try removeCompletely(url.appendingPathComponent(name))
                }
            } else {
                try removeCompletely(url)
            }
        }
    }
}

/// Removes a file or folder, even while a process is writing into it.
func removeCompletely(_ url: URL) throws {
    var attempts = 100
    while true {
        do {
            return try FileManager.default.removeItem(at: url)
        } catch {
            // A listed file has been removed, or a new one has been created. Neither lasts.
            var status = stat()
            guard lstat(url.path, &status) == 0 else { return }
            attempts -= 1
            if attempts == 0 { throw error }
        }
    }
}
