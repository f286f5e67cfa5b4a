package import Foundation

/// Frozen files of released formats. They never change.
package enum Fixtures {
    package static func file(_ name: String) -> URL {
        root.appendingPathComponent("Tests/Fixtures/\(name)")
    }

    /// The package's folder.
    package static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }
}
