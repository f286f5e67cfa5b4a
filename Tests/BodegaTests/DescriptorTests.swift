import Foundation
import TestSupport
import Testing

/// A process that may open no more files.
@Suite struct DescriptorTests {

    @Test(
        "Too many open files are reported as such, and all is well when there are fewer", arguments: ["sqlite", "disk"])
    func exhausted(kind: String) async throws {
        let folder = TemporaryFolder()
        let lines = try await Child("exhaust-descriptors", kind, folder.path).lines()
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("inputOutput: It could not be opened. Too many files are open."))
        // A connection to a database may be there already.
        #expect(lines[1] == "read" && kind == "sqlite" || lines[1].contains("Too many files are open."))
        #expect(lines[2] == "1")
    }
}
