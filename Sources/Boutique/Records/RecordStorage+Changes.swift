import Bodega
import Foundation
import Logging

extension RecordStorage {

    /// Reads all records, with the cursor behind them if the engine has a log.
    ///
    /// - Parameter needsCursor: Whether it fails if the engine has a log and the cursor can't be read.
    func fetchAll(
        needsCursor: Bool
    ) async throws -> (records: [(key: CacheKey, data: Data)], cursor: StorageCursor?) {
        guard let observableEngine else { return (try await engine.fetchAll(), nil) }
        do {
            let snapshot = try await observableEngine.fetchSnapshot()
            return (snapshot.items, snapshot.cursor)
        } catch  where !needsCursor {
            let records = try await engine.fetchAll()
            boutiqueLogger.notice(
                """
                The store does not see changes of other processes, because the engine can't report them. Call reload() \
                to see them.
                """,
                metadata: ["error": "\(error)"]
            )
            return (records, nil)
        }
    }

    /// Signals that other origins may have changed something. `nil` if the engine can't signal that.
    func changeSignals() -> AsyncStream<Void>? {
        if let engine = engine as? any CommitReportingStorageEngine { return engine.changeSignals(excluding: origin) }
        return observableEngine?.changeSignals()
    }

    /// Reads and decodes what has changed since a cursor.
    ///
    /// - Returns: `nil` if the log does not reach back to it.
    func changes(since cursor: StorageCursor) async throws -> RecordChanges<Item>? {
        let origin = origin
        guard let found = try await observableEngine?.fetchChangedItems(since: cursor, excluding: origin) else {
            return nil
        }
        return RecordChanges(found.changes, await decode(found.items), upTo: found.cursor, readBy: origin)
    }

    /// Whether the store itself may have changed something since a cursor.
    ///
    /// - Returns: `true` also if the log does not reach back to it.
    func mayHaveOwnChanges(since cursor: StorageCursor) async throws -> Bool {
        guard let observableEngine,
            let all = try await StorageDelta.whole(
                since: cursor, excluding: nil, observableEngine.fetchChanges(since:excluding:))
        else { return true }
        return all.changes.contains { $0.origin == origin }
    }
}
