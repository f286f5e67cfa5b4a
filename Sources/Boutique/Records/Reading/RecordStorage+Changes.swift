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
        guard changeLog != nil else { return try await readAll(into: decoding, ScanRequest()) }
        do {
            return try await readAll(into: decoding, ScanRequest(needsCursor: true))
        } catch  where !needsCursor {
            let read = try await readAll(into: decoding, ScanRequest())
            boutiqueLogger.notice(
                """
                The store can't follow the changes of other processes, because the engine's log could not be read. \
                Call reload() to show them.
                """,
                metadata: ["error": "\(error)"]
            )
            return read
        }
    }

    private func readAll(
        into decoding: ConcurrentDecoding<Item>, _ request: ScanRequest
    ) async throws -> (cursor: StorageCursor?, unreadable: [StorageError]) {
        var request = request
        (request.fields, request.options) = (fields, options)
        let parts = Locked(RecordParts())
        let answer = try await engine.scan(request) { [expiringRecords] in
            parts.withLock { $0 = RecordParts() }
            return { _, item in
                if let expiry = item.expiry { expiringRecords.note(item.key, expiry) }
                // Outside of the lock, because decoding takes long.
                if let full = parts.withLock({ $0.append(item) }) { decoding.receive(full.number, full.records) }
                return true
            }
        }
        let last = parts.withLock { $0.last }
        decoding.receive(last.number, last.records)
        return (answer.value.cursor, answer.report.unreadable)
    }

    /// Reads the changes since a cursor, and decodes the changed records.
    ///
    /// - Parameters:
    ///   - hasWritten: Whether the store itself has changed records since the cursor.
    ///   - removed: The keys of the records that it has removed, `nil` if it has removed all. A wrapper may have
    ///     removed others in the same batches, to keep within its limits.
    /// - Returns: The changes, or `nil` if the log does not reach back to the cursor.
    func changes(
        since cursor: StorageCursor, hasWritten: Bool = false, removed: Set<CacheKey>? = nil
    ) async throws -> RecordChanges<Item>? {
        guard let changeLog else { return nil }
        let origin = origin
        let request = ChangesRequest(
            since: cursor, excluding: origin, needsItems: true, fields: fields, options: options)
        for _ in 0..<Self.maximumReads {
            let answer = try await changeLog.fetchChanges(request)
            guard let delta = answer.value else { return nil }
            expiringRecords.note(delta.items)
            if delta.changes.isEmpty, hasWritten {
                guard let own = try await allChanges(since: cursor) else {
                    // The log is too short for the removal of all records.
                    return removed == nil ? RecordChanges(ownUpTo: delta.cursor) : nil
                }
                // Another origin has changed something in between, so its items are needed.
                if own.changes.contains(where: { $0.origin != origin }) { continue }
                return RecordChanges(own.changes, [], upTo: own.cursor, ownOrigin: origin, ownRemovals: removed)
            }
            let items = delta.items.map { (key: $0.key, data: $0.data) }
            let records = await decode(items, unreadable: answer.report.unreadable)
            return RecordChanges(delta.changes, records, upTo: delta.cursor, ownOrigin: origin, ownRemovals: removed)
        }
        return nil
    }

    /// The maximum number of reads of changes during which other origins change something.
    private static var maximumReads: Int { 16 }

    private func allChanges(since cursor: StorageCursor) async throws -> StorageDelta? {
        try await changeLog?.fetchAllChanges(since: cursor, excluding: nil)
    }

    /// Returns whether the store itself may have changed the engine since a cursor.
    ///
    /// - Returns: `true` also if the log does not reach back to the cursor.
    func mayHaveOwnChanges(since cursor: StorageCursor) async throws -> Bool {
        guard let all = try await allChanges(since: cursor) else { return true }
        return all.changes.contains { $0.origin == origin }
    }
}

/// The records of a scan, in parts of a size that is worth another thread.
private struct RecordParts: Sendable {
    private var records: [(key: CacheKey, data: Data)] = []
    private var byteCount = 0
    private var number = 0

    /// Appends a record, and returns the part before it if that is full.
    mutating func append(_ item: StorageItem) -> (number: Int, records: [(key: CacheKey, data: Data)])? {
        var full: (number: Int, records: [(key: CacheKey, data: Data)])?
        if records.count == 512 || !records.isEmpty && byteCount + item.data.count > 1 << 20 {
            full = last
            (records, byteCount, number) = ([], 0, number + 1)
        }
        records.append((item.key, item.data))
        byteCount += item.data.count
        return full
    }

    /// The last part, which may be empty.
    var last: (number: Int, records: [(key: CacheKey, data: Data)]) { (number, records) }
}
