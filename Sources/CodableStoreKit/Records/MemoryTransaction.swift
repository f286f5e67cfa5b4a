import Bodega
import Foundation

/// The turn of those that change the collections of a location in memory.
final class MemoryTurn: Sendable {

    let lock = NSLock()

    /// The transaction of the calling thread, `nil` if it has none on these collections.
    var transaction: MemoryTransaction? {
        guard let current = ThreadTransaction.current, current.place === self else { return nil }
        return current.details as? MemoryTransaction
    }

    /// Runs a closure in a transaction. See ``RecordCollection/transaction(_:)``.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        try ThreadTransaction.checkUse(of: self)
        if let transaction { return try transaction.nested(body) }
        let transaction = MemoryTransaction()
        let ofThread = ThreadTransaction(of: self, transaction)
        // Observers are called without the lock.
        defer { ofThread.end() }
        return try lock.withLock {
            let value = try ofThread.run(body)
            transaction.commit()
            return value
        }
    }
}

/// The changes of a transaction to collections in memory. Until the commit, only the transaction finds them.
final class MemoryTransaction {

    private var drafts: [ObjectIdentifier: (collection: MemoryCollection, draft: MemoryDraft)] = [:]
    private var committed: [() -> Void] = []

    /// The changes of a collection, `nil` if there are none.
    func draft(of collection: MemoryCollection) -> MemoryDraft? { drafts[ObjectIdentifier(collection)]?.draft }

    /// Adds changes of a collection.
    func add(_ operations: [StorageOperation], to collection: MemoryCollection, committed: @escaping () -> Void) {
        drafts[ObjectIdentifier(collection), default: (collection, MemoryDraft())].draft.add(operations)
        self.committed.append(committed)
    }

    /// Runs a closure, and undoes its changes if it throws. Only that takes longer the more changes there were before.
    func nested<Value>(_ body: () throws -> Value) throws -> Value {
        let (counts, count) = (drafts.mapValues { $0.draft.operations.count }, committed.count)
        do {
            return try body()
        } catch {
            committed.removeLast(committed.count - count)
            for (id, draft) in drafts where draft.draft.operations.count != counts[id] {
                drafts[id] = counts[id].map { (draft.collection, draft.draft.prefix($0)) }
            }
            throw error
        }
    }

    /// Applies the changes.
    func commit() {
        let changes = drafts.values.map { (collection: $0.collection, operations: $0.draft.operations) }
        MemoryCollection.apply(changes[...]) { for call in committed { call() } }
    }
}

/// Changes of a collection that are not applied yet.
struct MemoryDraft {
    private(set) var operations: [StorageOperation] = []
    /// What the operations have written, `nil` if it was removed.
    private var written: [CacheKey: Data?] = [:]
    private var hasRemovedAll = false

    mutating func add(_ added: [StorageOperation]) {
        operations += added
        for operation in added {
            switch operation {
            case .write(let key, let data): written[key] = .some(data)
            case .remove(let key): written[key] = .some(nil)
            case .removeAll: (written, hasRemovedAll) = ([:], true)
            }
        }
    }

    /// The first of the changes.
    func prefix(_ count: Int) -> MemoryDraft {
        var draft = MemoryDraft()
        draft.add(Array(operations.prefix(count)))
        return draft
    }

    /// The record under a key after the operations: `.some(nil)` if there is none, `nil` if they do not concern it.
    func data(of key: CacheKey) -> Data?? { written[key] ?? (hasRemovedAll ? .some(nil) : nil) }
}
