import Bodega
import Foundation

// What is read in all records.
extension OutboxStorage {

    /// Changes in the order of ``scan(_:)``.
    func pending(limit: Int) async throws -> [PendingChange] {
        let found = Locked<[PendingChange]>([])
        if limit <= 0 { return [] }
        try await scan { item, record in
            found.withLock { found in
                found.append(PendingChange(item, record))
                return found.count < limit
            }
        }
        return found.withLock { $0 }
    }

    /// The number of items whose changes are parked.
    func countParked() async throws -> Int {
        let count = Locked(0)
        try await scan { _, record in
            if record.isParked { count.withLock { $0 += 1 } }
            return true
        }
        return count.withLock { $0 }
    }

    /// Items whose changes can be sent, the oldest first, and their records, also those of a request that is not known
    /// any more.
    ///
    /// - Parameters:
    ///   - requests: The requests without an outcome.
    ///   - concerns: Whether changes of a collection can be sent.
    ///   - canSend: Whether a change of such a collection can be.
    func candidates(
        limit: Int, maximumBytes: Int, requests: Set<UUID>,
        in concerns: @escaping @Sendable (_ collection: String) -> Bool,
        where canSend: @escaping @Sendable (SyncItemID, OutboxRecord.Edit) -> Bool
    ) async throws -> (items: [SyncItemID], records: [SyncItemID: ReadRecord]) {
        struct Found: Sendable {
            var items: [SyncItemID] = []
            var records: [SyncItemID: ReadRecord] = [:]
            var bytes = 0
            var room: RequestRoom
        }
        let found = Locked(Found(room: RequestRoom(groups: limit)))
        try await scan(where: concerns) { item, record, data in
            if let sent = record.sent, requests.contains(sent.request) { return true }
            let sent = record.sent.map { OutboxRecord.Edit(data: $0.data) }
            guard let edit = record.edit ?? sent, edit.failure == nil, canSend(item, edit) else { return true }
            return found.withLock { found in
                guard found.room.take(edit) else { return false }
                found.items.append(item)
                if let data { found.records[item] = ReadRecord(data: data, record: record) }
                found.bytes += (edit.data?.count ?? 0) + (record.server?.count ?? 0)
                return !found.room.isFull && found.bytes < maximumBytes
            }
        }
        return found.withLock { ($0.items, $0.records) }
    }

    /// The groups of which a part can't be sent now.
    func waitingGroups(where canSend: @escaping @Sendable (_ collection: String) -> Bool) async throws -> Set<UUID> {
        let groups = Locked<Set<UUID>>([])
        try await scan { item, record in
            guard let edit = record.edit, let group = edit.group else { return true }
            if record.sent != nil || edit.failure != nil || !canSend(item.collection) {
                groups.withLock { _ = $0.insert(group) }
            }
            return true
        }
        return groups.withLock { $0 }
    }
}
