package import Foundation

/// A folder that is removed at the end, with everything in it.
package struct Scratch: Sendable {
    /// Where the folder is.
    package let url: URL

    /// Creates a new folder.
    ///
    /// - Parameter parent: Where to create it. By default `/var/tmp`, which unlike `/tmp` is on a disk almost
    ///   everywhere, or the user's temporary folder where there is no `/var/tmp`.
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

    /// Removes the folder, also while a session that was interrupted still writes into it.
    package func remove() throws {
        var attempts = 100
        while FileManager.default.fileExists(atPath: url.path) {
            do {
                try FileManager.default.removeItem(at: url)
            } catch {
                // What was listed is gone already, or something new has come. Neither lasts.
                attempts -= 1
                if attempts == 0 { throw error }
            }
        }
    }

    /// Hands out an empty folder and removes it when the work is done or has failed.
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

    /// Removes a folder in which an engine that is going away may still remove files of its own, so that what was
    /// listed a moment ago is not there any more.
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
