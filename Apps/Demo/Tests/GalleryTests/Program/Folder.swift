import Bodega
import Foundation

/// A temporary folder, which is removed with this object.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gallery-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A temporary folder was not removed: \(error)")
        }
    }

    /// A subfolder.
    func directory(_ name: String) -> FileManager.Directory {
        FileManager.Directory(url: url.appendingPathComponent(name, isDirectory: true))
    }
}
