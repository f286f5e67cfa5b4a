/// An engine that reads from another engine and refuses to write to it. ``StorageEngine/readOnly()`` creates one.
///
/// A write throws a ``StorageError`` with ``StorageError/Code/readOnly`` and changes nothing.
public struct ReadOnlyStorageEngine<Base: StorageEngine>: ForwardingStorageEngine {
    public let base: Base

    public func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        guard !call.operation.isWrite else {
            throw StorageError(
                .readOnly, "This engine only reads. Write to the engine that it was made from.", key: call.key)
        }
        return try await body()
    }
}

extension ReadOnlyStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {}
extension ReadOnlyStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
extension ReadOnlyStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension ReadOnlyStorageEngine: QueryableStorageEngine where Base: QueryableStorageEngine {}

extension StorageEngine {

    /// Returns an engine that reads from this engine and refuses to write to it.
    ///
    /// ```swift
    /// let catalog = try SQLiteStorageEngine.sharing(file).readOnly()
    /// ```
    public func readOnly() -> ReadOnlyStorageEngine<Self> {
        ReadOnlyStorageEngine(base: self)
    }
}
