import Bodega
import Foundation
import Logging

extension RecordStorage {

    /// Reads all records.
    ///
    /// - Parameters:
    ///   - decoding: Receives the records.
    ///   - needsCursor: Whether the method throws if the engine has a log whose cursor can't be read.
    /// - Returns: The cursor of the snapshot if the engine has a log, and the errors of the records that the engine
    ///   can't read.
    func readAll(
        into decoding: ConcurrentDecoding<Item>, needsCursor: Bool
    ) async throws -> (cursor: StorageCursor?, unreadable: [StorageError]) {
        guard let observableEngine else { return (nil, try await readAllWithoutCursor(into: decoding)) }
        do {
            let read = try await PartialRead(following: observableEngine) { engine in
                if let engine = engine as? any CommitReportingStorageEngine {
                    return try await engine.readSnapshot { decoding.receive($0, $1) }
                }
                let snapshot = try await engine.fetchSnapshot()
                decoding.receive(snapshot.items)
                return snapshot.cursor
            }
            return (read.value, read.unreadable)
        } catch  where !needsCursor {
            let unreadable = try await readAllWithoutCursor(into: decoding)
            boutiqueLogger.notice(
                """
                The store can't follow the changes of other processes, because the engine's log could not be read. \
                Call reload() to show them.
                """,
                metadata: ["error": "\(error)"]
            )
            return (nil, unreadable)
        }
    }

    private func readAllWithoutCursor(into decoding: ConcurrentDecoding<Item>) async throws -> [StorageError] {
        let read = try await PartialRead(from: engine) { try await $0.fetchAll() }
        decoding.receive(read.value)
        return read.unreadable
    }

    /// Returns signals that other origins may have changed the engine, or `nil` if the engine does not signal changes.
    func changeSignals() -> AsyncStream<Void>? {
        commitReportingEngine?.changeSignals(excluding: origin) ?? observableEngine?.changeSignals()
    }

    /// Reads the changes since a cursor, and decodes the changed records.
    ///
    /// - Parameter removed: The keys of the records that the store itself has removed, if it has changed records since
    ///   the cursor. A wrapper may have removed others in the same batches, to keep within its limits.
    /// - Returns: The changes, or `nil` if the log does not reach back to the cursor.
    func changes(since cursor: StorageCursor, removed: Set<CacheKey>? = nil) async throws -> RecordChanges<Item>? {
        guard let observableEngine else { return nil }
        let origin = origin
        for _ in 0..<Self.maximumReads {
            let read = try await expiringRecords.call()() {
                try await PartialRead(following: observableEngine) {
                    try await $0.fetchChangedItems(since: cursor, excluding: origin)
                }
            }
            guard let (delta, items) = read.value else { return nil }
            if delta.changes.isEmpty, let removed {
                guard let own = try await allChanges(since: cursor) else { return nil }
                // Another origin has changed something in between, so its items are needed.
                if own.changes.contains(where: { $0.origin != origin }) { continue }
                return RecordChanges(own.changes, [], upTo: own.cursor, ownOrigin: origin, ownRemovals: removed)
            }
            let records = await decode(items, unreadable: read.unreadable)
            return RecordChanges(delta.changes, records, upTo: delta.cursor, ownOrigin: origin, ownRemovals: removed)
        }
        return nil
    }

    /// The maximum number of reads of changes during which other origins change something.
    private static var maximumReads: Int { 16 }

    private func allChanges(since cursor: StorageCursor) async throws -> StorageDelta? {
        guard let observableEngine else { return nil }
        return try await .whole(since: cursor, excluding: nil, observableEngine.fetchChanges(since:excluding:))
    }

    /// Returns whether the store itself may have changed the engine since a cursor.
    ///
    /// - Returns: `true` also if the log does not reach back to the cursor.
    func mayHaveOwnChanges(since cursor: StorageCursor) async throws -> Bool {
        guard let all = try await allChanges(since: cursor) else { return true }
        return all.changes.contains { $0.origin == origin }
    }
}
