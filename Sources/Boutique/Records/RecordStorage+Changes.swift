import Bodega
import Foundation
import Logging

extension RecordStorage {

    /// Reads all records, and returns the cursor of the snapshot if the engine has a log.
    ///
    /// - Parameters:
    ///   - decoding: Receives the records.
    ///   - needsCursor: Whether the method throws if the engine has a log whose cursor can't be read.
    func readAll(into decoding: ConcurrentDecoding<Item>, needsCursor: Bool) async throws -> StorageCursor? {
        guard let observableEngine else {
            decoding.receive(try await engine.fetchAll())
            return nil
        }
        do {
            if let commitReportingEngine {
                return try await commitReportingEngine.readSnapshot { decoding.receive($0, $1) }
            }
            let snapshot = try await observableEngine.fetchSnapshot()
            decoding.receive(snapshot.items)
            return snapshot.cursor
        } catch  where !needsCursor {
            decoding.receive(try await engine.fetchAll())
            boutiqueLogger.notice(
                """
                The store can't follow the changes of other processes, because the engine's log could not be read. \
                Call reload() to show them.
                """,
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    /// Returns signals that other origins may have changed the engine, or `nil` if the engine does not signal changes.
    func changeSignals() -> AsyncStream<Void>? {
        commitReportingEngine?.changeSignals(excluding: origin) ?? observableEngine?.changeSignals()
    }

    /// Reads the changes since a cursor, and decodes the changed records.
    ///
    /// - Returns: The changes, or `nil` if the log does not reach back to the cursor.
    func changes(since cursor: StorageCursor) async throws -> RecordChanges<Item>? {
        let origin = origin
        guard let (delta, items) = try await observableEngine?.fetchChangedItems(since: cursor, excluding: origin)
        else { return nil }
        return RecordChanges(delta.changes, await decode(items), upTo: delta.cursor, ownOrigin: origin)
    }

    /// Returns whether the store itself may have changed the engine since a cursor.
    ///
    /// - Returns: `true` also if the log does not reach back to the cursor.
    func mayHaveOwnChanges(since cursor: StorageCursor) async throws -> Bool {
        guard let observableEngine,
            let all = try await StorageDelta.whole(
                since: cursor, excluding: nil, observableEngine.fetchChanges(since:excluding:))
        else { return true }
        return all.changes.contains { $0.origin == origin }
    }
}
