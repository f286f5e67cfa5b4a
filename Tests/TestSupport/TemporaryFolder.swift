package import Bodega
package import Foundation

/// A folder that is removed when this object is deinitialized.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("emporium-tests-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            fatalError("No folder for the tests could be created: \(error)")
        }
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A folder of the tests could not be removed: \(error)")
        }
    }

    package var path: String { url.path }
    package var directory: FileManager.Directory { FileManager.Directory(url: url) }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// The sorted names of the folder's entries.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }
}
