import Foundation
import TestSupport
import Testing

/// Tests with many more readers than connections and threads.
@Suite struct CrowdedReadingTests {

    @Test(
        "Synchronous reads on all of the system's threads don't starve asynchronous ones, on eight processors",
        arguments: [100, 600], ["threads", "tasks"])
    func crowded(blocks: Int, place: String) async throws {
        let folder = TemporaryFolder()
        let child = try Child(
            ["read-crowded", folder.file("database").path, "\(blocks)", place],
            environment: Processors.eight(in: folder))
        defer { child.kill() }
        try #require(await child.nextLine().flatMap { Int($0) } ?? 0 >= 8)
        #expect(await child.nextLine() == "asynchronous")
        #expect(await child.nextLine() == "synchronous")
    }
}
