import Bodega

/// The changes that the outbox had at a moment, to wait for them.
///
/// An item that is changed again and again may never leave the outbox. So a change is known by its number.
struct UnsettledChanges {
    private static let partSize = 100

    private let outbox: OutboxStorage
    private var changes: ArraySlice<(item: SyncItemID, number: Int)>

    /// Takes down the changes of some collections that are not parked.
    init(of outbox: OutboxStorage, in collections: SyncedCollections) async throws {
        let changes = Locked<[(item: SyncItemID, number: Int)]>([])
        try await outbox.scan(where: { collections.collection($0) != nil }) { item, record, _ in
            if !record.isParked {
                changes.withLock { $0.append((item, record.lastNumber)) }
            }
            return true
        }
        self.outbox = outbox
        self.changes = changes.withLock { $0[...] }
    }

    /// Whether the remote database has all changes, but those that are parked. What it has is not looked for again.
    mutating func areSettled() async throws -> Bool {
        while !changes.isEmpty {
            let part = changes.prefix(Self.partSize)
            let records = try await outbox.fetchRecords(of: part.map(\.item))
            for change in part {
                if let record = records[change.item], !record.isParked, record.firstNumber <= change.number {
                    return false
                }
                changes.removeFirst()
            }
        }
        return true
    }
}
