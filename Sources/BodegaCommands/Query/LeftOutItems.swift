import Bodega

/// The items of which a query can't say whether they match.
final class LeftOutItems: Sendable {
    private struct Counts {
        var finished = 0
        /// The number in the current scan.
        var current = 0
        var unreadable: Set<CacheKey> = []
    }

    private let counts = Locked(Counts())

    /// The items that can't be read, or are encrypted.
    let unreadable = UnreadableItems()

    /// The number of items that are not JSON.
    var count: Int { counts.withLock { $0.finished + $0.current } }

    /// Adds an item that is not JSON.
    func add(_ entry: StorageEntry) {
        if !EncryptedItem.hasForm(entry.data) { return counts.withLock { $0.current += 1 } }
        if isNew(entry.key) { unreadable.addEncrypted(entry.key) }
    }

    private func add(_ error: StorageError) {
        if let key = error.key, !isNew(key) { return }
        unreadable.add(error)
    }

    /// Whether an item was not reported before: an engine that repeats a read reports it again.
    private func isNew(_ key: CacheKey) -> Bool { counts.withLock { $0.unreadable.insert(key).inserted } }

    /// Returns an engine for a query, without the items that can't be read.
    func omitted(from engine: any StorageEngine) async throws -> any QueryableStorageEngine {
        func counted(_ base: some QueryableStorageEngine) -> any QueryableStorageEngine {
            CountedEngine(base: base, items: self)
        }
        let readable = (engine as? any PartiallyReadableStorageEngine)?.omittingUnreadable { self.add($0) }
        let streamable = try await (readable ?? engine).streamable()
        return counted(streamable)
    }

    fileprivate func begin() { counts.withLock { $0.current = 0 } }

    fileprivate func end() {
        counts.withLock { counts in
            counts.finished += counts.current
            counts.current = 0
        }
    }
}

/// An engine that reports when a scan begins, or begins again, and when it ends.
private struct CountedEngine<Base: QueryableStorageEngine>: ForwardingStorageEngine, QueryableStorageEngine {
    let base: Base
    let items: LeftOutItems

    func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        try await body()
    }

    func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        try await base.scan(scans) { [items] in
            items.begin()
            return try begin()
        }
        items.end()
    }
}
