package import Bodega

/// An engine that counts the items which are read of another one.
package struct CountingItems: ForwardingStorageEngine {
    package let base: any StorageBackend
    private let items = Locked(0)

    package init(of base: any StorageBackend) { self.base = base }

    /// The number of items that scans have passed on, and that were read under keys.
    package var count: Int { items.withLock { $0 } }

    /// Returns the number, and begins again.
    package func take() -> Int {
        items.withLock { items in
            defer { items = 0 }
            return items
        }
    }

    package func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let answer = try await body()
        if let found = answer.value as? [StorageItem] { items.withLock { $0 += found.count } }
        return answer
    }

    package func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await base.scan(request) { [items] in
            let receive = try begin()
            return { number, item in
                items.withLock { $0 += 1 }
                return try receive(number, item)
            }
        }
    }
}
