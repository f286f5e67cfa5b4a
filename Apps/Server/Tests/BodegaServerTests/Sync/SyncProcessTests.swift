import Foundation
import Testing

/// Synchronization as N. Nurture has tested PowerSync (github.com/nurturenature/jepsen-powersync): processes, a server
/// and partitions. The faults are injected by `cluster.py`, and the checks are those of `oracle.py`.
@Suite("Synchronization of processes")
struct SyncProcessTests {

    /// What `cluster.py` prints.
    private struct Report: Decodable {
        let violations: [String]
        let counts: [String: Int]
        let events: [String: Int]
        let faults: [String: Int]
        /// How often the pairs of a file were looked at.
        let looks: Int
        /// The seconds from the end of all faults until all files were equal and all outboxes empty.
        let converged: Double
        /// The same until `settled()` had returned in all clients.
        let settled: Double
    }

    /// In the issue this is 11. The machine of the tests may be busy.
    private static let secondsToConverge = 30.0

    @Test(
        "Nothing is stuck, divergent, lost, doubled or divided after partitions, kills and stops",
        arguments: TestSizes.syncClients)
    func faults(_ clients: Int) async throws {
        let tool = try BodegaTool()
        print("synchronization of processes: EMPORIUM_SEED=\(proxySeed)")
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("cluster.py")
        let run = try await ProgramRun(
            "python3",
            [
                program.path, try BodegaTool.executable.deletingLastPathComponent().path, tool.folder.path,
                "\(clients)", "\(TestSizes.syncSeconds)", "\(TestSizes.syncRate)", proxySeed,
            ])
        try #require(run.status == 0, "\(run.output)")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        print(
            """
            \(clients) clients, \(report.counts), \(report.events): synchronized \(report.converged) s after the last \
            fault, settled after \(report.settled) s
            """)
        #expect(report.violations == [])
        #expect(report.converged < Self.secondsToConverge && report.settled < Self.secondsToConverge)
        // It has tested what it promises.
        #expect(report.counts["acknowledged", default: 0] > 0 && report.counts["versions", default: 0] > 0)
        #expect(report.looks > 0)
        #expect(report.events.values.reduce(0, +) > 0 && report.faults["pass", default: 0] > 0)
    }
}
