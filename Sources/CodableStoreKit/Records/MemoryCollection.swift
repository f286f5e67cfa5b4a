import Bodega
import Foundation

/// Records in memory.
///
/// The lock of `core` guards the records. A change also holds the lock of `turn`, which all collections of a location
/// share, so that nothing changes them during a transaction. It is locked first.
final class MemoryCollection: RecordCollection {

    private let core = Locked(MemoryCore())
    private let turn: MemoryTurn

    init(_ turn: MemoryTurn = MemoryTurn()) { self.turn = turn }

    private struct Contents: RecordContents {
        let core: MemoryCore
        let draft: MemoryDraft?

        func data(of key: CacheKey) -> Data? {
            if let known = draft?.data(of: key) { return known }
            return core[key]?.data
        }

        func allItems() -> [(key: CacheKey, data: Data)] {
            var core = core
            if let draft { core.apply(draft.operations, at: Date()) }
            return core.entries.map { ($0.key, $0.data) }
        }
    }

    /// Reads the records, with the changes of the thread's transaction.
    private func reading<Value>(_ body: (Contents) throws -> Value) rethrows -> Value {
        let draft = turn.transaction?.draft(of: self)
        return try core.withLock { try body(Contents(core: $0, draft: draft)) }
    }

    func key(_ text: String) -> CacheKey { CacheKey(text) }

    func data(of key: CacheKey) -> Data? { reading { $0.data(of: key) } }

    func contains(_ key: CacheKey) -> Bool { reading { $0.data(of: key) != nil } }

    func items() -> [(key: CacheKey, data: Data)] { reading { $0.allItems() } }

    func file(of key: CacheKey) -> URL? { nil }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try change {
            try body($0)
        } committed: {
            committed()
        }
    }

    func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) throws {
        var items: [(key: CacheKey, data: Data)] = []
        try change { contents in
            items = contents.allItems()
            return [.removeAll]
        } committed: {
            committed(items)
        }
    }

    private func change(_ plan: (Contents) throws -> [StorageOperation], committed: @escaping () -> Void) throws {
        try ThreadTransaction.checkUse(of: turn)
        if let transaction = turn.transaction {
            return transaction.add(try reading(plan), to: self, committed: committed)
        }
        try turn.lock.withLock {
            let operations = try reading(plan)
            Self.apply([(self, operations)], committed)
        }
    }

    func transaction<Value>(_ body: () throws -> Value) throws -> Value { try turn.run(body) }

    /// Changes collections under the locks of all of them, so that no reader finds a part of the changes.
    ///
    /// - Parameters:
    ///   - changes: The operations on each collection. The caller holds the lock of their ``MemoryTurn``.
    ///   - committed: Called under the locks.
    static func apply(
        _ changes: ArraySlice<(collection: MemoryCollection, operations: [StorageOperation])>, _ committed: () -> Void
    ) {
        guard let (collection, operations) = changes.first else { return committed() }
        collection.core.withLock { core in
            core.apply(operations, at: Date())
            apply(changes.dropFirst(), committed)
        }
    }
}
