import Bodega
import Foundation
import Logging

extension RecordStorage {

    /// Reads all records, with the place in the engine's history if it has one.
    ///
    /// - Parameter needsCursor: Whether it fails if there is a history and the place in it can't be found out.
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
                "A store does not see what others change, because the engine can't tell. Call reload() to see it.",
                metadata: ["error": "\(error)"]
            )
            return (records, nil)
        }
    }

    /// Signals that others may have changed something. `nil` if the engine can't tell.
    func changeSignals() -> AsyncStream<Void>? {
        if let engine = engine as? any CommitReportingStorageEngine { return engine.changeSignals(excluding: origin) }
        return observableEngine?.changeSignals()
    }

    /// Reads what has changed since a place in the engine's history.
    ///
    /// - Returns: `nil` if the history does not reach back to it.
    func fetchNews(since cursor: StorageCursor) async throws -> HistoryNews? {
        try await observableEngine?.fetchChangedItems(since: cursor, excluding: origin)
            .map { HistoryNews($0, since: cursor, readBy: origin) }
    }

    /// Whether the store itself may have changed something since a place in the engine's history.
    ///
    /// - Returns: `true` also if the history does not reach back to it.
    func mayHaveOwnChanges(since cursor: StorageCursor) async throws -> Bool {
        guard let observableEngine,
            let all = try await StorageDelta.whole(
                since: cursor, excluding: nil, observableEngine.fetchChanges(since:excluding:))
        else { return true }
        return all.changes.contains { $0.origin == origin }
    }
}
