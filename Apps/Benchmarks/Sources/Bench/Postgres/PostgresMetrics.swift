import BenchHarness
import Foundation

/// The metrics of `bench --postgres` on one server.
struct PostgresMetrics: Sendable {
    /// The program that starts the server.
    let starter: URL

    #if Postgres
    /// Whether this program can measure PostgreSQL.
    static let areBuilt = true

    /// The metrics in the order of the table.
    var all: [Metric] { bulk + singles + changes }

    /// Calls a closure with a server that has an empty database.
    func withServer<Result>(_ plan: Plan, _ work: (BenchServer) async throws -> Result) async throws -> Result {
        // Not in the scratch folder, which the server's user may not be able to enter.
        let server = try BenchServer(startedBy: starter, in: plan.scratch.url.deletingLastPathComponent())
        return try await work(server)
    }
    #else
    /// Whether this program can measure PostgreSQL.
    static let areBuilt = false

    /// No metrics.
    var all: [Metric] { [] }
    #endif
}
