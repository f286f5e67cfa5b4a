import BenchHarness
import Foundation

/// What `bench --postgres` measures, on one server.
struct PostgresMetrics: Sendable {
    /// The program that starts a server.
    let starter: URL

    #if Postgres
    /// Whether this program can measure them.
    static let areBuilt = true

    /// The metrics in the order of the table.
    var all: [Metric] { bulk + singles + changes }

    /// Calls a closure with a server that has nothing but an empty database.
    func withServer<Result>(_ plan: Plan, _ work: (BenchServer) async throws -> Result) async throws -> Result {
        // Beside the scratch folder, which the server's user may not enter.
        let server = try BenchServer(startedBy: starter, in: plan.scratch.url.deletingLastPathComponent())
        return try await work(server)
    }
    #else
    /// Whether this program can measure them.
    static let areBuilt = false

    /// Nothing.
    var all: [Metric] { [] }
    #endif
}
