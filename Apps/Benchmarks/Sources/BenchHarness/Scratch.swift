package import Foundation

/// A temporary folder, which is removed at the end.
package struct Scratch: Sendable {
    /// The location of the folder.
    package let url: URL

    /// Creates a new folder.
    ///
    /// - Parameter parent: The parent folder. The default is `/var/tmp`, which unlike `/tmp` is on a disk almost
    ///   everywhere, or the user's temporary folder if `/var/tmp` does not exist.
    package init(in parent: URL?) throws {
        let parent = parent ?? Self.defaultParent
        url = parent.appendingPathComponent("bench-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    private static var defaultParent: URL {
        FileManager.default.isWritableFile(atPath: "/var/tmp")
            ? URL(fileURLWithPath: "/var/tmp", isDirectory: true)
            : FileManager.default.temporaryDirectory
    }

    /// Removes the folder, even while an interrupted session is writing into it.
    package func remove() throws {
        var attempts = 100
        while FileManager.default.fileExists(atPath: url.path) {
            do {
                try FileManager.default.removeItem(at: url)
            } catch {
                // A listed file has been removed, or a new one has been created. Neither lasts.
                attempts -= 1
                if attempts == 0 { throw error }
            }
        }
    }

    /// Calls a closure with an empty folder, and removes the folder afterwards.
    package func withFolder<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: (URL) async throws -> Result
    ) async throws -> Result {
        let folder = url.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result: Result
        do {
            result = try await work(folder)
        } catch {
            try Self.remove(folder)
            throw error
        }
        try Self.remove(folder)
        return result
    }

    /// Removes a folder while an engine that is being released may remove files of its own from it, so that listed
    /// files can be missing.
    private static func remove(_ folder: URL) throws {
        while true {
            do {
                return try FileManager.default.removeItem(at: folder)
            } catch CocoaError.fileNoSuchFile where FileManager.default.fileExists(atPath: folder.path) {
                continue
            }
        }
    }
}
