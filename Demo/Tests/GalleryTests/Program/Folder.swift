import Bodega
import Foundation

/// A folder that exists as long as this object.
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
            print("A folder of the tests stays: \(error)")
        }
    }

    /// A folder in this one.
    func directory(_ name: String) -> FileManager.Directory {
        FileManager.Directory(url: url.appendingPathComponent(name, isDirectory: true))
    }
}
