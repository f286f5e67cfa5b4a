import Bodega
import Logging

/// A step of an operation, as the caller has given it. The keys of its items are determined when it is written, because
/// that takes long for many items.
enum StoreStep<Item: StorableItem>: Sendable {
    case insert([Item])
    case removeItems([Item])
    case remove([CacheKey])
    case removeAll
}

/// The outcome of writing operations as one batch.
struct WrittenOperations<Item: StorableItem>: Sendable {
    /// For each operation up to a failure that ends the batch, the changes of items or the error of its preparation.
    fileprivate(set) var operations: [Result<[StoreChange<Item>], any Error>] = []
    /// The changes of the engine's records.
    fileprivate(set) var records: [StorageOperation] = []
    /// How the batch preserves exceptional records, if there are any.
    fileprivate(set) var planner: WritePlanner<Item>?
    /// Whether nothing was written, because others have changed something that the operations may depend on.
    fileprivate(set) var isOutdated = false
    /// The outcome of writing the records.
    fileprivate(set) var outcome: Result<Void, any Error> = .success(())
    /// The changes after the store's cursor, including these operations, or `nil` if they are not known.
    fileprivate(set) var changes: RecordChanges<Item>?
    /// The records that the engine has lost on its own.
    fileprivate(set) var lost = LostRecords()

    /// The keys of the records that the operations remove; `nil` if they remove all.
    var removedKeys: Set<CacheKey>? {
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
}

extension RecordStorage {

    /// Encodes operations and writes them with one call to the engine. The method does all of this in one step, so that
    /// it need not wait for the main actor in between.
    ///
    /// - Parameters:
    ///   - operations: The steps of each operation.
    ///   - planner: The planner, if there are exceptional records.
    ///   - cursor: The store's cursor in the engine's log, if it is known.
    ///   - needsCursor: Whether nothing is written if others have changed something since the cursor.
    ///   - stopsAtFailure: Whether preparation ends with the first failed operation, because later ones depend on it.
    func write(
        _ operations: [[StoreStep<Item>]],
        around planner: WritePlanner<Item>?,
        since cursor: StorageCursor?,
        needsCursor: Bool,
        stopsAtFailure: Bool
    ) async -> WrittenOperations<Item> {
        var written = await prepare(operations, around: planner, stopsAtFailure: stopsAtFailure)
        do {
            let basis = needsCursor ? cursor : nil
            let answer = written.records.isEmpty ? nil : try await apply(written.records, basis: basis)
            if answer?.value.wasApplied == false {
                written.isOutdated = true
                return written
            }
            if let cursor { written.changes = await changes(since: cursor, after: written, answer?.value.commit) }
            written.lost = await lostRecords(answer?.report.evicted ?? [], after: written)
        } catch {
            written.outcome = .failure(error)
        }
        return written
    }

    /// Encodes operations, and determines the changes of the engine's records.
    func prepare(
        _ operations: [[StoreStep<Item>]], around planner: WritePlanner<Item>?, stopsAtFailure: Bool
    ) async -> WrittenOperations<Item> {
        // Together, so that many small operations are encoded on all cores, like a large one.
        var encoded = await EncodedItems(operations, coding)
        var written = WrittenOperations<Item>(planner: planner)
        written.operations.reserveCapacity(operations.count)
        for steps in operations {
            let changes = Result { try encoded.takeChanges(steps, coding, &written.records) }
            written.operations.append(changes)
            if stopsAtFailure, case .failure = changes { break }
        }
        await written.planner?.plan(&written.operations, &written.records, stopsAtFailure: stopsAtFailure)
        return written
    }

    /// Whether more can follow from the removal of a record, because of references.
    func isReferenced() async -> Bool {
        guard let references = engine.references else { return false }
        do {
            return try await references.isReferenced()
        } catch {
            // It may be.
            return true
        }
    }

    /// Determines what has changed since the store's cursor, after a write whose place in the log may be known.
    private func changes(
        since cursor: StorageCursor, after written: WrittenOperations<Item>, _ commit: StorageCommit?
    ) async -> RecordChanges<Item>? {
        // The engine signals later changes.
        if let commit, commit.before == cursor { return RecordChanges(ownUpTo: commit.after) }
        do {
            return try await changes(since: cursor, hasWritten: true, removed: written.removedKeys)
        } catch {
            // The operations are written. The store catches up later, and logs the error if it persists.
            boutiqueLogger.debug("Changes could not be read after a write.", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

/// The records of all items that operations insert, in order.
private struct EncodedItems<Item: StorableItem>: Sendable {
    private let writes: [StorageOperation]
    private let failures: [Int: StorageError]
    /// The index of the next item to take.
    private var next = 0

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

    /// Takes the items of the next operation, adds its changes of the engine's records, and returns those of the items.
    ///
    /// - Throws: The error of the first item that could not be encoded.
    mutating func takeChanges(
        _ steps: [StoreStep<Item>], _ coding: RecordCoding<Item>, _ records: inout [StorageOperation]
    ) throws -> [StoreChange<Item>] {
        let start = next
        next += steps.reduce(0) { $0 + $1.insertedItems.count }
        if !failures.isEmpty { for index in start..<next { if let error = failures[index] { throw error } } }
        var writes = writes[start..<next]
        return steps.map { step in
            switch step {
            case .insert(let items):
                let taken = writes.prefix(items.count)
                writes = writes.dropFirst(items.count)
                records += taken
                return .insert(keys: taken.compactMap { $0.writtenKey }, items: items)
            case .removeItems(let items): return removal(of: items.map { coding.key(of: $0) }, &records)
            case .remove(let keys): return removal(of: keys, &records)
            case .removeAll:
                records.append(.removeAll)
                return .removeAll
            }
        }
    }

    private func removal(of keys: [CacheKey], _ records: inout [StorageOperation]) -> StoreChange<Item> {
        records += keys.map { .remove(key: $0) }
        return .remove(keys)
    }
}

extension StoreStep {
    /// Whether it can remove items.
    var isRemoval: Bool {
        if case .insert = self { false } else { true }
    }

    fileprivate var insertedItems: [Item] {
        if case .insert(let items) = self { items } else { [] }
    }
}

extension StorageOperation {
    /// The key of the record that the operation writes.
    var writtenKey: CacheKey? {
        if case .write(let key, _) = self { key } else { nil }
    }
}
