import Foundation
import TestSupport
import Testing

/// Tests of a process that may not open any more files.
@Suite struct DescriptorTests {

    @Test(
        "Too many open files are reported as such, and operations succeed when there are fewer",
        arguments: ["sqlite", "disk"])
    func exhausted(kind: String) async throws {
        let folder = TemporaryFolder()
        let lines = try await Child("exhaust-descriptors", kind, folder.path).lines()
        try #require(lines.count == 10)
        let tooMany = "inputOutput: The file or folder could not be opened. Too many files are open."
        #expect(lines[0].hasPrefix(tooMany))
        // Each attempt can open one more file.
        for line in lines[..<8] where line != "opened" { #expect(line.hasPrefix(tooMany)) }
        #expect(lines[8] == "read" || lines[8].hasPrefix(tooMany))
        #expect(lines[9] == "1")
    }
}
