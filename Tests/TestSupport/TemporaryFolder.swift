package import Bodega
package import Foundation

/// A folder that exists as long as this object.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("emporium-tests-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            fatalError("No folder for the tests: \(error)")
        }
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A folder of the tests stays: \(error)")
        }
    }

    package var path: String { url.path }
    package var directory: FileManager.Directory { FileManager.Directory(url: url) }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// The names of what is in the folder, sorted.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }
}
