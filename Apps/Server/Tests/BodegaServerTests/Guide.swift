import Foundation
import Testing

/// A page of the documentation.
struct Guide {
    private let text: String

    init(_ name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        text = try String(
            contentsOf: folder.appendingPathComponent("../../../../docs/Emporium.docc/\(name).md"), encoding: .utf8)
    }

    /// The first snippet in a language.
    func snippet(_ language: String) throws -> String {
        try #require(text.components(separatedBy: "```\(language)\n").dropFirst().first).components(
            separatedBy: "```")[0]
    }
}
