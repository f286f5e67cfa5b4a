import BenchHarness
import Bodega
import Foundation
import GRDBSQLite

/// The metrics of the creation of an index.
extension QueryMetrics {

    var indexCreation: [Metric] {
        [
            Metric("query.index.create", baseline: "CREATE INDEX, for which writers wait", maximum: 6) {
                try await creating($0)
            },
            Metric("query.index.wait", baseline: "100 ms of another writer", maximum: 1) { try await waiting($0) },
        ]
    }

    private func withEngine<Result>(
        _ plan: Plan, _ body: (SQLiteStorageEngine, StorageIndex, URL) async throws -> Result
    ) async throws -> Result {
        try await plan.scratch.withFolder { folder in
            _ = try await QueriedTask.prepare(plan.size(count), in: folder)
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            guard let index = try await engine.fetchIndexes().first else {
                throw VerificationFailure("there is no index")
            }
            return try await body(engine, index, folder.appendingPathComponent("data.sqlite3"))
        }
    }

    private func creating(_ plan: Plan) async throws -> Outcome {
        try await withEngine(plan) { engine, index, file in
            let sql = try CDatabase(file)
            // After a large write, the engine may still shrink its log.
            sqlite3_busy_timeout(sql.connection, 10_000)
            try await engine.createIndex(index)
            let statement = try CStatement(sql, "SELECT sql FROM sqlite_master WHERE name LIKE 'emporium_index%'")
            try sql.check(sqlite3_step(statement.pointer), is: SQLITE_ROW)
            let definition = String(cString: sqlite3_column_text(statement.pointer, 0))
            sqlite3_reset(statement.pointer)
            return try await compare(
                items: plan.size(count), runs: plan.runs,
                ours: {
                    try await engine.removeIndex(index)
                    return try await timed { try await engine.createIndex(index) }.0
                },
                baseline: {
                    try await engine.removeIndex(index)
                    // The connection notices that the index is gone.
                    _ = try sql.count()
                    return try timed { try sql.execute(definition) }.0
                })
        }
    }

    /// The longest write of a connection of its own, which waits as SQLite's own timeout does.
    private func waiting(_ plan: Plan) async throws -> Outcome {
        try await withEngine(plan) { engine, index, file in
            var longest: [Duration] = []
            for _ in 0..<plan.runs {
                try await engine.removeIndex(index)
                let writer = WaitingWriter(file)
                try await engine.createIndex(index)
                longest.append(try writer.end())
            }
            return Outcome(items: plan.size(count), ours: longest.median, baseline: .milliseconds(100))
        }
    }
}

/// A thread that writes an item again and again, and measures each write.
private final class WaitingWriter: @unchecked Sendable {
    // @unchecked because the thread alone uses `result` before it leaves the group.
    private let group = DispatchGroup()
    private let lock = NSLock()
    private var mustEnd = false
    private var result: Result<Duration, any Error> = .success(.zero)

    init(_ file: URL) {
        group.enter()
        Thread { [self] in
            result = Result { try write(to: file) }
            group.leave()
        }.start()
    }

    private func write(to file: URL) throws -> Duration {
        let database = try CDatabase(file)
        sqlite3_busy_timeout(database.connection, 10_000)
        var longest = Duration.zero
        while !lock.withLock({ mustEnd }) {
            let time = try timed { try database.execute("UPDATE data SET kind = kind WHERE rowid = 3") }.0
            longest = max(longest, time)
            Thread.sleep(forTimeInterval: 0.002)
        }
        return longest
    }

    /// Ends the thread, and returns the longest time.
    func end() throws -> Duration {
        lock.withLock { mustEnd = true }
        group.wait()
        return try result.get()
    }
}
