#if Postgres
import Bodega
import Foundation

/// Reports how far the server is with the index of a partition, while it builds it on another session.
struct IndexBuildProgress: Sendable {

    let pool: SessionPool
    let clock: any Clock<Duration>
    /// Receives the number of items that were read, and the number of all, in all partitions.
    let report: @Sendable (Int, Int) -> Void
    /// The number of all items.
    let total: Int

    var interval = Duration.milliseconds(250)

    /// Runs a build, and reports a part of the whole.
    ///
    /// - Parameters:
    ///   - table: The partition, with its schema, quoted.
    ///   - start: The share of the whole that is complete.
    ///   - end: The share that is complete after the build.
    func during(
        _ table: String, from start: Double, to end: Double, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async throws {
        reportShare(start)
        let polling = Task {
            while true {
                do {
                    try await clock.sleep(for: interval)
                    let result = try await pool.withSession { try await $0.run(Command(Self.statement, table)) }
                    if result.count == 0 { continue }
                    reportShare(start + (end - start) * Double(try result.number(0, 0) as Int64) / 1000)
                } catch {
                    // The build goes on without reports.
                    return
                }
            }
        }
        defer { polling.cancel() }
        try await body()
    }

    /// Reports that a share of the whole is complete.
    func reportShare(_ share: Double) { report(Int(share * Double(total)), total) }

    /// The complete share of a build, in thousandths. Nearly all of the time is that of the first scan, in which the
    /// server computes the keys. In the first block of a scan, the server reports that all blocks are done.
    private static let statement = Statement(
        """
        SELECT max(
            CASE
            WHEN phase LIKE 'building index: scanning table%'
            THEN 900 * (blocks_done % greatest(blocks_total, 1)) / greatest(blocks_total, 1)
            WHEN phase LIKE 'building index: %' OR phase LIKE '%validation%' THEN 900
            WHEN phase = 'waiting for old snapshots' THEN 1000
            ELSE 0 END
        )::bigint FROM pg_stat_progress_create_index
        WHERE datname = current_database() AND relid = to_regclass($1) HAVING count(*) > 0
        """)
}
#endif
