import BenchHarness
import Bodega
import BodegaRemote
import Foundation

/// A child process that reads all items of a server, and a cursor for the changes after them.
struct SynchronizingChild {
    let url: URL
    let token: String

    /// The child's report.
    struct Report: Codable {
        var items: Int
        var bytes: Int
        var milliseconds: Double
        /// The peak memory of the child.
        var peak: Int
    }

    /// Starts this program as a child, and waits for its report.
    func run() throws -> Report {
        let child = try LineChild(
            ["--child-synchronizes", url.absoluteString, "--child-token", token], firstLine: "reading")
        defer { child.end() }
        return try JSONDecoder().decode(Report.self, from: Data(child.nextLine().utf8))
    }

    /// The child's work.
    func beChild() async throws {
        LineChild.say("reading")
        let token = token
        let read = Total()
        let (time, _) = try await timed {
            let engine = try await RemoteStorageEngine(connecting: url, collection: "notes") { token }
            let outcome = try await engine.scan(ScanRequest(needsCursor: true)) {
                (read.items, read.bytes) = (0, 0)
                return { _, item in
                    (read.items, read.bytes) = (read.items + 1, read.bytes + item.data.count)
                    return true
                }
            }.value
            guard let cursor = outcome.cursor else { throw VerificationFailure("the server sent no cursor") }
            let delta = try await engine.fetchChanges(since: cursor, excluding: nil)
            try verify(delta?.changes.count, equals: 0, "changes after the snapshot")
        }
        let report = Report(
            items: read.items, bytes: read.bytes, milliseconds: time.milliseconds, peak: try ResidentMemory.peak())
        LineChild.say(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private final class Total: @unchecked Sendable {
        // @unchecked because a scan passes its items on one at a time, and the numbers are read after it.
        var (items, bytes) = (0, 0)
    }
}
