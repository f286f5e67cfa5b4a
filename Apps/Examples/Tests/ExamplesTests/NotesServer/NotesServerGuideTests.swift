import Foundation
import Testing

/// The snippets of the documentation that use Hummingbird, on which the package does not depend. `Tools/Snippets/run`
/// compiles all others.
@Suite struct NotesServerGuideTests {

    private let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `Snippets that use Hummingbird are from the example`() throws {
        let folder = root.appendingPathComponent("Apps/Examples/Sources/NotesServer")
        let sources = try files(in: folder, withExtension: "swift")
        var count = 0
        for folder in ["docs", "Sources"] {
            for document in try files(in: root.appendingPathComponent(folder), withExtension: "md") {
                var imports: [String] = []
                for snippet in document.components(separatedBy: "\n```swift\n").dropFirst() {
                    let lines = lines(of: snippet.components(separatedBy: "\n```")[0])
                    let own = lines.filter { $0.hasPrefix("import ") }
                    // A snippet without imports uses those of the snippet before.
                    if !own.isEmpty { imports = own }
                    // Those with a server of collections are in the tests of the server.
                    if imports.contains("import BodegaServer") { continue }
                    guard imports.contains("import Hummingbird") || imports.contains("import ServiceLifecycle") else {
                        continue
                    }
                    let body = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
                        .trimmingCharacters(in: .newlines)
                    let isInSource = sources.contains { source in
                        let lines = self.lines(of: source)
                        return own.allSatisfy(lines.contains)
                            && ("\n" + lines.joined(separator: "\n") + "\n").contains("\n" + body + "\n")
                    }
                    #expect(isInSource, "not in the example:\n\(body)")
                    count += 1
                }
            }
        }
        #expect(count == 4)
    }

    private func files(in folder: URL, withExtension name: String) throws -> [String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix("." + name) }.map {
            try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
        }
    }

    private func lines(of text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
