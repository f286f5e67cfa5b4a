import Bodega
import Foundation

/// Where an engine keeps its items while it is profiled. It is free before and afterwards.
struct Place: Sendable {

    private enum Target: Sendable {
        case address(StorageAddress)
        case custom(ProfiledEngine, folder: URL)
    }

    private let target: Target
    /// Whether the user made the folder, who may have given it an owner and permissions.
    private var isFolderKept = false

    /// A place for an engine of this package.
    init(_ address: StorageAddress) {
        target = .address(address)
        if let url = address.url { isFolderKept = FileManager.default.fileExists(atPath: url.path) }
    }

    /// A place for an engine that a program brings.
    init(_ engine: ProfiledEngine, folder: URL) {
        target = .custom(engine, folder: folder)
    }

    /// Whether what is written can be found again.
    var isPersistent: Bool {
        if case .address(.memory) = target { return false }
        return true
    }

    /// The files and folders that the engine writes.
    var urls: [URL] {
        switch target {
        case .custom(_, let folder): return [folder]
        case .address(let address):
            guard let url = address.url else { return [] }
            if address.engine == .disk { return [url] }
            // See https://www.sqlite.org/tempfiles.html
            return ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: address.path + $0) }
        }
    }

    /// Makes sure that nothing is there that somebody may need.
    ///
    /// - Throws: A ``ProfilerError`` that says what to do.
    func checkIsFree() throws {
        for url in urls {
            let parent = url.deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue else {
                throw ProfilerError("There is no folder \(parent). Make it first.")
            }
            if try Self.isTaken(url.path) {
                throw ProfilerError(
                    "\(url.path) is there already, and profiling would write to it. Name a path where nothing is, "
                        + "or an engine alone to use a temporary folder.")
            }
        }
    }

    /// Whether something is at a path other than an empty folder.
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

    /// Closes an engine as far as that can be done: what follows when it is let go does the rest.
    static func close(_ engine: any StorageEngine) async throws {
        try await (engine as? SQLiteStorageEngine)?.close()
    }

    /// Removes what the engine has written.
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

/// Removes a file or folder, also while somebody still writes into it.
func removeCompletely(_ url: URL) throws {
    var attempts = 100
    while true {
        do {
            return try FileManager.default.removeItem(at: url)
        } catch {
            // What was listed is gone already, or something new has come. Neither lasts.
            var status = stat()
            guard lstat(url.path, &status) == 0 else { return }
            attempts -= 1
            if attempts == 0 { throw error }
        }
    }
}
