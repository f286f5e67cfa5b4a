import Bodega
import Foundation
import Logging

/// A step of an operation, as the caller has given it.
enum StoreStep<Item: StorableItem>: Sendable {
    case insert([Item])
    case removeItems([Item])
    case remove([CacheKey])
    case removeAll
}

/// An operation that is ready to be written.
struct PreparedOperation<Item: StorableItem>: Sendable {
    /// The changes of the store's items.
    var changes: [StoreChange<Item>] = []
    /// The changes of the engine's records.
    var records: [StorageOperation] = []
    /// The bytes of exceptional records that the operation replaces, moves or removes, to restore them if it fails.
    var originals: [CacheKey: Data] = [:]
    /// Whether it copies a record with an item that the store does not show.
    var leavesItemUnshown = false
}

/// The outcome of writing operations as one batch.
struct WrittenOperations<Item: StorableItem>: Sendable {
    /// For each operation up to a failure that ends the batch, the prepared operation or the error of its preparation.
    var prepared: [Result<PreparedOperation<Item>, any Error>]
    /// The exceptions after the operations.
    var exceptions: RecordExceptions
    /// The outcome of writing the prepared operations.
    var outcome: Result<Void, any Error>
    /// The changes after the store's cursor, including these operations, or `nil` if they are not known.
    var changes: RecordChanges<Item>?
    /// The keys of the records that the engine has evicted or let expire.
    var lost: Set<CacheKey> = []
    /// Whether all records must be read to know what the engine has lost.
    var mustReload = false

    private var records: [StorageOperation] {
        var records: [StorageOperation] = []
        for case .success(let operation) in prepared { records += operation.records }
        return records
    }

    /// The keys of the records that the operations remove; `nil` if they remove all.
    fileprivate var removedKeys: Set<CacheKey>? {
        var keys: Set<CacheKey> = []
        for operation in records {
            switch operation {
            case .write: break
            case .remove(let key): keys.insert(key)
            case .removeAll: return nil
            }
        }
        return keys
    }

    /// Whether the operations write one of some records.
    fileprivate func writes(anyOf keys: Set<CacheKey>) -> Bool {
        !keys.isEmpty && records.contains { $0.writtenKey.map(keys.contains) ?? false }
    }
}

extension RecordStorage {

    /// Encodes operations and writes them with one call to the engine. The method does all of this in one step, so that
    /// it need not wait for the main actor in between.
    ///
    /// - Parameters:
    ///   - operations: The steps of each operation.
    ///   - before: The exceptions before the operations.
    ///   - contents: The items, or `nil` if there are no exceptions.
    ///   - cursor: The store's cursor in the engine's log, if it is known.
    ///   - stopsAtFailure: Whether preparation ends with the first failed operation, because later ones depend on it.
    func write(
        _ operations: [[StoreStep<Item>]],
        _ before: RecordExceptions,
        _ contents: OrderedItems<Item>?,
        since cursor: StorageCursor?,
        stopsAtFailure: Bool
    ) async -> WrittenOperations<Item> {
        // Together, so that many small operations are encoded on all cores, like a large one.
        let encoded = await EncodedItems(operations, coding)
        var next = 0
        var planner = WritePlanner(storage: self, exceptions: before, contents: contents)
        var written = WrittenOperations<Item>(prepared: [], exceptions: before, outcome: .success(()))
        written.prepared.reserveCapacity(operations.count)
        for steps in operations {
            let indices = next..<(next + steps.reduce(0) { $0 + $1.insertedItems.count })
            next = indices.upperBound
            do {
                try encoded.checkSuccess(of: indices)
                written.prepared.append(.success(try await prepare(steps, encoded, indices, &planner)))
            } catch {
                written.prepared.append(.failure(error))
                if stopsAtFailure { break }
            }
        }
        written.exceptions = planner.exceptions
        let answer: StorageAnswer<BatchOutcome>?
        do {
            answer = try await apply(written.prepared)
        } catch {
            written.outcome = .failure(error)
            return written
        }
        if let cursor {
            // The engine signals later changes.
            if let commit = answer?.value.commit, commit.before == cursor {
                written.changes = RecordChanges(ownUpTo: commit.after)
            } else {
                do {
                    written.changes = try await changes(since: cursor, removed: written.removedKeys)
                } catch {
                    // The operations are written. The store catches up later, and logs the error if it persists.
                    boutiqueLogger.debug("Changes could not be read after a write.", metadata: ["error": "\(error)"])
                }
            }
        }
        await findLost(answer?.report.evicted ?? [], &written)
        return written
    }

    /// Finds out which records the engine has lost on its own.
    ///
    /// - Parameters:
    ///   - evicted: The keys of the records that it may have evicted during the write.
    ///   - written: The outcome of the write, to which the method adds them and those that have expired.
    private func findLost(_ evicted: Set<CacheKey>, _ written: inout WrittenOperations<Item>) async {
        let expired = traits.contains(.expires) ? expiringRecords.takeExpired(at: engine.now()) : []
        let keys = evicted.union(expired)
        if keys.isEmpty { return }
        // A record that was evicted and written again is the last one, which only the engine's order shows.
        written.mustReload = !written.exceptions.isEmpty || written.writes(anyOf: evicted)
        do {
            let request = FetchRequest(
                Array(keys), traits.contains(.expires) ? .expiry : [], options: ReadOptions(needsOriginal: true))
            let remaining = try await engine.fetch(request).value
            expiringRecords.note(remaining)
            written.lost = keys.subtracting(remaining.map(\.key))
        } catch {
            boutiqueLogger.debug("Evictions could not be read after a write.", metadata: ["error": "\(error)"])
            (written.lost, written.mustReload) = (keys, true)
        }
    }

    private func apply(
        _ prepared: [Result<PreparedOperation<Item>, any Error>]
    ) async throws -> StorageAnswer<BatchOutcome>? {
        var records: [StorageOperation] = []
        if prepared.count == 1, case .success(let operation) = prepared[0] {
            records = operation.records
        } else {
            for case .success(let operation) in prepared { records += operation.records }
        }
        return records.isEmpty ? nil : try await apply(records)
    }

    /// Determines the records that an operation changes. If the method throws, the planner is unchanged.
    private func prepare(
        _ steps: [StoreStep<Item>],
        _ encoded: EncodedItems<Item>,
        _ indices: Range<Int>,
        _ planner: inout WritePlanner<Item>
    ) async throws -> PreparedOperation<Item> {
        var next = indices.lowerBound
        var prepared = PreparedOperation<Item>()
        // A copy only if there are exceptions, because a second reference would make each change copy the planner's
        // state.
        let before = planner.isPlain ? nil : planner
        do {
            for step in steps {
                switch step {
                case .insert(let items):
                    let writes = encoded.writes(next..<(next + items.count))
                    next += items.count
                    try await insert(items, writes, &prepared, &planner)
                case .removeItems(let items):
                    try await remove(items.map { coding.key(of: $0) }, &prepared, &planner)
                case .remove(let keys):
                    try await remove(keys, &prepared, &planner)
                case .removeAll:
                    try await planner.removeAll(&prepared)
                    prepared.changes.append(.removeAll)
                }
            }
        } catch {
            if let before { planner = before }
            throw error
        }
        return prepared
    }

    private func insert(
        _ items: [Item],
        _ writes: ArraySlice<StorageOperation>,
        _ prepared: inout PreparedOperation<Item>,
        _ planner: inout WritePlanner<Item>
    ) async throws {
        let keys = writes.compactMap { $0.writtenKey }
        prepared.changes.append(.insert(keys: keys, items: items))
        if planner.isPlain {
            prepared.records += writes
        } else {
            for (key, write) in zip(keys, writes) { try await planner.write(key, write, &prepared) }
        }
    }

    private func remove(
        _ keys: [CacheKey],
        _ prepared: inout PreparedOperation<Item>,
        _ planner: inout WritePlanner<Item>
    ) async throws {
        try await planner.remove(keys, &prepared)
        prepared.changes.append(.remove(keys))
    }
}

/// The writes of all items that operations insert, in order.
private struct EncodedItems<Item: StorableItem>: Sendable {
    private let writes: [StorageOperation]
    private let failures: [Int: StorageError]

    /// Encodes items on all cores.
    init(_ operations: [[StoreStep<Item>]], _ coding: RecordCoding<Item>) async {
        var items: [Item] = []
        for steps in operations {
            // The first array is used as it is, so that the items of a single call are not copied.
            for step in steps { if items.isEmpty { items = step.insertedItems } else { items += step.insertedItems } }
        }
        let failures = Locked<[Int: StorageError]>([:])
        writes = await items.concurrentCompactMap { part, receive in
            for (index, encoded) in zip(part.indices, coding.encode(part)) {
                switch encoded.data {
                case .success(let data):
                    receive(.write(key: encoded.key, data: data))
                case .failure(let error):
                    failures.withLock { $0[index] = error }
                    // A placeholder, which is never applied.
                    receive(.remove(key: encoded.key))
                }
            }
        }
        self.failures = failures.withLock { $0 }
    }

    /// Throws the first error of the items at some indices.
    func checkSuccess(of indices: Range<Int>) throws {
        if failures.isEmpty { return }
        for index in indices { if let error = failures[index] { throw error } }
    }

    /// The writes of the items at some indices.
    func writes(_ indices: Range<Int>) -> ArraySlice<StorageOperation> {
        writes[indices]
    }
}

extension StorageOperation {
    fileprivate var writtenKey: CacheKey? {
        if case .write(let key, _) = self { key } else { nil }
    }
}

extension StoreStep {
    fileprivate var insertedItems: [Item] {
        if case .insert(let items) = self { items } else { [] }
    }
}
