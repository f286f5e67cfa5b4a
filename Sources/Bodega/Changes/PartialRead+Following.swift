extension PartialRead {

    /// Performs a read of an engine with a log, like ``init(from:isolation:_:)``.
    package init(
        following engine: any ObservableStorageEngine, isolation: isolated (any Actor)? = #isolation,
        _ read: (any ObservableStorageEngine) async throws -> Value
    ) async throws {
        try await self.init(from: engine, read) { $0 as? any ObservableStorageEngine }
    }
}
