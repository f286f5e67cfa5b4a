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
        if let engine = engine as? any CommitTellingStorageEngine { return engine.changeSignals(besides: origin) }
        return observableEngine?.changeSignals()
    }

    /// Reads what has changed since a place in the engine's history.
    ///
    /// - Returns: `nil` if the history does not reach back to it.
    func fetchNews(since cursor: StorageCursor) async throws -> HistoryNews? {
        guard let observableEngine else { return nil }
        var news = HistoryNews(since: cursor)
        while true {
            let delta = try await observableEngine.fetchChanges(since: news.cursor, besides: origin)
            guard let delta else { return nil }
            news.add(delta, readBy: origin)
            if delta.isComplete { return news }
        }
    }

    /// Finds out what the store itself has changed since a place in the engine's history.
    ///
    /// - Returns: `nil` if the history does not reach back to it.
    func fetchOwnChanges(since cursor: StorageCursor) async throws -> OwnChanges? {
        guard let observableEngine else { return nil }
        var own = OwnChanges()
        var place = cursor
        while let delta = try await observableEngine.fetchChanges(since: place, besides: nil) {
            for change in delta.changes { own.add(change, isOwn: change.origin == origin) }
            place = delta.cursor
            if delta.isComplete { return own }
        }
        return nil
    }

    /// Reads what others have written.
    ///
    /// What they write meanwhile is added to the news if it concerns the same keys, so that no version is read for one
    /// change and then for the next; unless they go on and on.
    ///
    /// - Parameter news: What the history tells.
    /// - Returns: The records under the written keys, as far as they exist.
    func load(_ news: inout HistoryNews) async throws -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        var attempts = 0
        while true {
            attempts += 1
            let keys = Set(news.changesOfOthers.lazy.filter { $0.kind == .written }.map(\.key))
            let found = try await load(Array(keys))
            // If it does not reach back any more, that is noticed the next time.
            guard attempts < 16, let more = try await fetchNews(since: news.cursor) else { return found }
            if !more.changesOfOthers.contains(where: { keys.contains($0.key) }) { return found }
            news.add(more)
        }
    }
}
