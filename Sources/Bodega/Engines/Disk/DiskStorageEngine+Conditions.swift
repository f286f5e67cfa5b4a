extension DiskStorageEngine: ConditionalStorageEngine {

    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        let date = now()
        return try await writing { try $0.apply(operations, if: conditions, at: date) }
    }
}
