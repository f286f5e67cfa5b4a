import Bodega
import Foundation

/// A folder that exists as long as this object.
final class TemporaryFolder: Sendable {
    let url: URL

    init() {
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

    var path: String { url.path }
    var directory: FileManager.Directory { FileManager.Directory(url: url) }

    func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// The names of what is in the folder, sorted.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }
}
