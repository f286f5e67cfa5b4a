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

    /// The number of changes that are passed over to find others.
    private static let maximumPassed = 1_000

    /// Items whose changes can be sent, the oldest first, and their records, also those of a request that is not known
    /// any more.
    ///
    /// - Parameters:
    ///   - requests: The requests without an outcome.
    ///   - isTurnOfOthers: Whether changes that were not applied together come after all others. There can be many of
    ///     them, each of which is refused alone, and what was written since must not wait for all.
    ///   - concerns: Whether changes of a collection can be sent.
    ///   - canSend: Whether a change of such a collection can be.
    func candidates(
        limit: Int, maximumBytes: Int, requests: Set<UUID>, isTurnOfOthers: Bool,
        in concerns: @escaping @Sendable (_ collection: String) -> Bool,
        where canSend: @escaping @Sendable (SyncItemID, OutboxRecord.Edit) -> Bool
    ) async throws -> (items: [SyncItemID], records: [SyncItemID: ReadRecord]) {
        struct Found: Sendable {
            var items: [SyncItemID] = []
            var records: [SyncItemID: ReadRecord] = [:]
            var bytes = 0
            var room: RequestRoom

            /// - Returns: Whether it wants more.
            mutating func take(
                _ item: SyncItemID, _ edit: OutboxRecord.Edit, _ record: OutboxRecord, _ data: Data?, _ maximum: Int
            ) -> Bool {
                guard bytes < maximum, room.take(edit) else { return false }
                items.append(item)
                if let data { records[item] = ReadRecord(data: data, record: record) }
                bytes += (edit.data?.count ?? 0) + (record.server?.count ?? 0)
                return !room.isFull && bytes < maximum
            }
        }
        let none = Found(room: RequestRoom(groups: limit))
        let (found, divided, passed) = (Locked(none), Locked(none), Locked(0))
        try await scan(where: concerns) { item, record, data in
            if let sent = record.sent, requests.contains(sent.request) { return true }
            let sent = record.sent.map { OutboxRecord.Edit(data: $0.data) }
            guard let edit = record.edit ?? sent, edit.failure == nil, canSend(item, edit) else { return true }
            if isTurnOfOthers, edit.maximumGroups != nil {
                _ = divided.withLock { $0.take(item, edit, record, data, maximumBytes) }
                return passed.withLock { count in
                    count += 1
                    return count < Self.maximumPassed
                }
            }
            return found.withLock { $0.take(item, edit, record, data, maximumBytes) }
        }
        let (others, rest) = (found.withLock { $0 }, divided.withLock { $0 })
        return others.items.isEmpty ? (rest.items, rest.records) : (others.items, others.records)
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
