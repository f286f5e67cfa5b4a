import Foundation

/// Frozen files of formats that have been released. They are never written again.
enum Fixtures {
    static func file(_ name: String) -> URL {
        root.appendingPathComponent("Tests/Fixtures/\(name)")
    }

    /// The package's folder.
    static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
}
