import GRDB
import Logging

/// Brings the indexes for searches of a file up to date in the background, one collection at a time.
final class SQLiteSearchUpdates: Sendable {

    /// The number of rows that a search may take from their items for good, because that takes less time than an
    /// update.
    private static let minimumCount = 256

    /// The number of operations of a batch after which an update begins without a search.
    static let largeBatch = 1_000

    /// Whether any index of a collection lacks many rows, or is damaged.
    static func isAnyBehind(of table: SQLiteTable, in db: Database) throws -> Bool {
        if SQLiteSearchFailures.shared.isAnyUnmarked(in: db) { return true }
        return try SQLiteSearchIndex.all(of: table, in: db).contains { index in
            do {
                return try SQLiteSearchIndex.reporting {
                    try index.pendingCount(upTo: minimumCount, in: db) >= minimumCount
                }
            } catch let failure as SQLiteSearchIndex.Failure {
                SQLiteSearchFailures.shared.report(failure, of: index, in: db)
                return true
            }
        }
    }

    /// The names of the tables that are being updated.
    private let running = Locked<Set<String>>([])

    /// Begins an update after a search or a large batch, unless one is running.
    func begin(_ table: SQLiteTable, of file: SQLiteFile) {
        guard file.isWritable, running.withLock({ $0.insert(table.name).inserted }) else { return }
        Task.detached(priority: .utility) { [weak file, self] in
            defer { _ = running.withLock { $0.remove(table.name) } }
            do {
                // The file may be closed in the meantime.
                while try await file?.updateSearches(of: table).hasMore == true { continue }
            } catch {
                // The next search begins it again.
                bodegaLogger.debug("An index for searches is not up to date.", metadata: ["error": "\(error)"])
            }
        }
    }
}

extension SQLiteFile {

    /// Adds some rows to the indexes for searches of a collection. If there are more, this waits for a moment, so that
    /// other writers find the file unlocked.
    ///
    /// - Returns: About how many rows were added, and whether there may be more.
    func updateSearches(of table: SQLiteTable) async throws -> SQLiteSearchIndex.Update {
        let outcome = Locked(SQLiteSearchIndex.Update())
        try await writeUntilCancelled { db in
            var update = SQLiteSearchIndex.Update()
            try SQLiteSearchFailures.shared.mark(SQLiteSearchIndex.all(of: table, in: db), in: db)
            for index in try SQLiteSearchIndex.all(of: table, in: db) {
                do {
                    try SQLiteSearchIndex.reporting { try index.update(&update, in: db) }
                } catch let failure as SQLiteSearchIndex.Failure {
                    SQLiteSearchFailures.shared.report(failure, of: index, in: db)
                    guard failure.isDamage else { throw failure.cause }
                    try index.markDamaged(in: db)
                }
            }
            outcome.withLock { [update] in $0 = update }
        }
        let update = outcome.withLock { $0 }
        if update.hasMore { try await Task.sleep(for: SQLiteIndexBuilder.Pace().pause) }
        return update
    }
}
