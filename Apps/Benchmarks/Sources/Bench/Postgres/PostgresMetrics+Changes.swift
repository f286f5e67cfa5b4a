#if Postgres
import BenchHarness

extension PostgresMetrics {
    var changes: [Metric] {
        Metrics.deliveries("postgres.changes") { plan, measure in
            try await withServer(plan) { try await measure($0.url) }
        }
    }
}
#endif
