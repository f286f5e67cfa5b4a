import GRDB

extension SQLiteStorageEngine: ConditionalStorageEngine {

    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        // What remains of the operations in the transaction.
        let planned = Locked<[StorageOperation]?>(nil)
        let change = change { planned.withLock { $0 } ?? [] }
        try await core.write(change) { [table] db in
            let areMet = try conditions.allSatisfy { try table.value(of: $0.key, in: db) == $0.data }
            planned.withLock { $0 = areMet ? operations : nil }
        } _: { [table, date = now()] db in
            guard let operations = planned.withLock({ $0 }), !operations.isEmpty else { return }
            try table.apply(operations, at: date, by: change.origin, in: db)
        }
        return planned.withLock { $0 != nil }
    }
}
