/// An engine that reads from another engine and refuses to write to it. ``StorageEngine/readOnly()`` creates one.
///
/// A write throws a ``StorageError`` with ``StorageError/Code/readOnly`` and changes nothing.
public struct ReadOnlyStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard !call.isWrite else {
            throw StorageError(
                .readOnly, "This engine only reads. Write to the engine that it was made from.", key: call.key)
        }
        return try await body()
    }
}

extension StorageEngine {

    /// Returns an engine that reads from this engine and refuses to write to it.
    ///
    /// ```swift
    /// let catalog = try SQLiteStorageEngine.sharing(file).readOnly()
    /// ```
    public func readOnly() -> ReadOnlyStorageEngine {
        ReadOnlyStorageEngine(base: backend)
    }
}
