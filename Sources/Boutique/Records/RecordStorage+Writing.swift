import Bodega
import Foundation
import Logging

/// One step of an operation, as it was asked for.
enum StoreStep<Item: StorableItem>: Sendable {
    case insert([Item])
    case removeItems([Item])
    case remove([CacheKey])
    case removeAll
}

/// An operation that is ready to be written.
struct PreparedOperation<Item: StorableItem>: Sendable {
    /// What it changes in memory.
    var changes: [StoreChange<Item>] = []
    /// What it changes in the engine.
    var records: [StorageOperation] = []
    /// Reported records that are about to be replaced, and are kept aside.
    var keptAside: [CacheKey: Data] = [:]
    /// Whether a record is kept aside whose item no record shows.
    var leavesItemUnshown = false
}

/// How operations ended that were to be written as one batch.
struct WrittenOperations<Item: StorableItem>: Sendable {
    /// For each operation that was looked at, what it is, or why it can't be written.
    var prepared: [Result<PreparedOperation<Item>, any Error>]
    /// Where the records are now.
    var exceptions: RecordExceptions
    /// Whether those that could be prepared were written.
    var outcome: Result<Void, any Error>
    /// What the engine's log has after the store's cursor, these operations included; `nil` if that is not known.
    var changes: RecordChanges<Item>?
}

extension RecordStorage {

    /// Encodes operations and writes them with one call to the engine. It is one step, so that the main actor need not be
    /// waited for in between.
    ///
    /// - Parameters:
    ///   - operations: The steps of each operation.
    ///   - before: Where the records are.
    ///   - contents: The items, if the records are not all simply items under their own keys.
    ///   - cursor: The store's cursor in the engine's log, if it is known.
    ///   - endsAtFailure: Whether nothing behind an operation that can't be prepared is looked at, because it stands on
    ///     that.
    func write(
        _ operations: [[StoreStep<Item>]],
        _ before: RecordExceptions,
        _ contents: OrderedItems<Item>?,
        since cursor: StorageCursor?,
        endsAtFailure: Bool
    ) async -> WrittenOperations<Item> {
        // All at once, so that many small operations are encoded on all cores, like a large one.
        let encoded = await EncodedItems(operations, coding)
        var next = 0
        var planner = WritePlanner(storage: self, exceptions: before, contents: contents)
        var written = WrittenOperations<Item>(prepared: [], exceptions: before, outcome: .success(()))
        written.prepared.reserveCapacity(operations.count)
        for steps in operations {
            let own = next..<(next + steps.reduce(0) { $0 + $1.insertedItems.count })
            next = own.upperBound
            do {
                try encoded.checkSuccess(of: own)
                written.prepared.append(.success(try await prepare(steps, encoded, own, &planner)))
            } catch {
                written.prepared.append(.failure(error))
                if endsAtFailure { break }
            }
        }
        written.exceptions = planner.exceptions
        let commit: StorageCommit?
        do {
            commit = try await apply(written.prepared)
        } catch {
            written.outcome = .failure(error)
            return written
        }
        guard let cursor else { return written }
        // Later changes are signalled.
        if let commit, commit.before == cursor {
            written.changes = RecordChanges(ownUpTo: commit.after)
            return written
        }
        do {
            written.changes = try await changes(since: cursor)
        } catch {
            // The operations are written all the same. The store catches up, which reports the error if it persists.
            boutiqueLogger.debug("Changes could not be read after a write.", metadata: ["error": "\(error)"])
        }
        return written
    }

    private func apply(_ prepared: [Result<PreparedOperation<Item>, any Error>]) async throws -> StorageCommit? {
        var records: [StorageOperation] = []
        if prepared.count == 1, case .success(let operation) = prepared[0] {
            records = operation.records
        } else {
            for case .success(let operation) in prepared { records += operation.records }
        }
        return records.isEmpty ? nil : try await apply(records)
    }

    /// Finds out what is to be written for an operation. If it throws, the planner is as before.
    private func prepare(
        _ steps: [StoreStep<Item>],
        _ encoded: EncodedItems<Item>,
        _ own: Range<Int>,
        _ planner: inout WritePlanner<Item>
    ) async throws -> PreparedOperation<Item> {
        var next = own.lowerBound
        var prepared = PreparedOperation<Item>()
        // Kept only where there is something to keep, because a second reference would make each change copy it.
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

/// The writes of all items that operations insert, in their order.
private struct EncodedItems<Item: StorableItem>: Sendable {
    private let writes: [StorageOperation]
    private let failures: [Int: StorageError]

    /// Encodes items on all cores.
    init(_ operations: [[StoreStep<Item>]], _ coding: RecordCoding<Item>) async {
        var items: [Item] = []
        for steps in operations {
            // The first is taken as it is, so that the items of a single call are not copied.
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
                    // In its place, and never carried out.
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
