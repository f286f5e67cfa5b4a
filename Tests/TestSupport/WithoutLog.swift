package import Bodega

/// An engine whose changes can't be observed.
package struct WithoutLog: ForwardingStorageEngine {
    package let base: any StorageBackend

    package init(_ base: any StorageEngine) { self.base = base.backend }

    package var log: (any StorageLog)? { nil }

    package func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }
}
