import Bodega
import Foundation

/// What has to be found out after a write failed.
///
/// Our engines change nothing when they fail. Engines that others wrote may have applied a part of the batch, and behind
/// a network even a batch that was applied whole can come back as an error. A failed operation must change nothing, so
/// the records concerned are read again, and what was applied is undone. Not so on an engine with a history, which applies
/// batches whole and is shared with others: what they acknowledged in the meantime could be overwritten.
struct FailedBatch: Sendable {
    /// What was to be written.
    private(set) var operations: [StorageOperation] = []
    /// The reported records that were to be replaced.
    private(set) var keptAside: [CacheKey: Data] = [:]

    /// How what is stored may differ from what is shown after a failure.
    enum Difference: Sendable {
        case none
        /// In the order of the items, or in what the history tells.
        case order
        case items
    }

    init<Item>(_ prepared: [PreparedOperation<Item>]) {
        for operation in prepared {
            operations += operation.records
            keptAside.merge(operation.keptAside) { first, _ in first }
        }
    }
}

extension RecordStorage {

    /// Undoes what was applied of a batch that failed, unless the engine has a history.
    ///
    /// - Parameters:
    ///   - failure: The batch.
    ///   - contents: The items that should be stored.
    ///   - exceptions: Where their records should be.
    ///   - cursor: The place in the engine's history that the store has reached, if it follows it.
    /// - Returns: How what is stored may differ from what is shown.
    /// - Throws: If it could not be found out or undone.
    func undo(
        _ failure: FailedBatch,
        _ contents: OrderedItems<Item>,
        _ exceptions: RecordExceptions,
        since cursor: StorageCursor?
    ) async throws -> FailedBatch.Difference {
        if observableEngine != nil {
            guard let cursor else { return .order }
            return try await mayHaveOwnChanges(since: cursor) ? .order : .none
        }
        let undoing = Undoing(storage: self, failure: failure, contents: contents, exceptions: exceptions)
        let plan = try await undoing.plan()
        if !plan.operations.isEmpty { try await apply(plan.operations) }
        if let unencodable = plan.unencodable { throw unencodable }
        if plan.leavesCopies { return .items }
        return plan.operations.isEmpty ? .none : .order
    }
}

/// Compares what is stored with what should be, key by key.
private struct Undoing<Item: StorableItem> {
    let storage: RecordStorage<Item>
    let failure: FailedBatch
    let contents: OrderedItems<Item>
    let exceptions: RecordExceptions

    /// What should be under a key.
    private enum Wanted {
        case bytes(Data)
        case item(Item)
        case nothing
    }

    /// What restores the state before the failed batch.
    struct Plan {
        var operations: [StorageOperation] = []
        /// The error of an item that can't be restored.
        var unencodable: StorageError?
        /// Whether reported records stay where the batch has copied them to, because others have taken their places.
        var leavesCopies = false
    }

    func plan() async throws -> Plan {
        let attempted = attempted
        var keys: [CacheKey] = Array(attempted.keys)
        if concernsAllItems {
            keys = contents.keysInOrder.map { exceptions.recordKey(of: $0) }
            keys += Set(attempted.keys).subtracting(keys)
        }
        keys += Set(failure.keptAside.keys).subtracting(keys)
        let present = Set(try await storage.engine.fetchKeys(among: keys))
        let written = keys.filter { present.contains($0) && attempted[$0]?.isEmpty == false }
        let stored = Dictionary(try await storage.engine.fetch(keys: written).map { ($0.key, $0.data) }) { $1 }

        let overtaken = Set(
            failure.keptAside.compactMap { key, data in
                guard let found = stored[key], found != data else { return nil as Data? }
                return isOurs(found, key, attempted) ? nil : data
            })
        var plan = Plan(leavesCopies: !overtaken.isEmpty)
        var removedFiles: Set<CacheKey> = []
        for key in written {
            guard case .nothing = wanted(key), let data = stored[key] else { continue }
            guard isOurs(data, key, attempted), !overtaken.contains(data) else { continue }
            plan.operations.append(.remove(key: key))
            if exceptions.hasReports || exceptions.hasDisplacedItems { removedFiles.insert(key.asFileName) }
        }
        // Files of the first Bodega answer to the keys that were just removed.
        for key in keys + removedFiles.subtracting(keys) {
            let found = removedFiles.contains(key) ? nil : stored[key]
            let isThere = present.contains(key) && !removedFiles.contains(key)
            if let found, isThere, !isOurs(found, key, attempted) { continue }
            do throws(StorageError) {
                if let data = try bytes(toRestore: key, found, isThere) {
                    plan.operations.append(.write(key: key, data: data))
                }
            } catch {
                plan.unencodable = error
            }
        }
        return plan
    }

    /// Whether bytes were written by the batch, or are no item. Anything else is another program's.
    private func isOurs(_ data: Data, _ key: CacheKey, _ attempted: [CacheKey: Set<Data>]) -> Bool {
        attempted[key]?.contains(data) == true || storage.coding.item(in: data, under: key) == nil
    }

    /// The bytes to write under a key, `nil` if what is there is right.
    private func bytes(toRestore key: CacheKey, _ found: Data?, _ isThere: Bool) throws(StorageError) -> Data? {
        if isThere, found == nil { return nil }
        switch wanted(key) {
        case .nothing: return nil
        case .bytes(let data): return found == data ? nil : data
        case .item(let item):
            let data = try storage.coding.encode([item])[0].data.get()
            return data == found ? nil : data
        }
    }

    private func wanted(_ key: CacheKey) -> Wanted {
        if let data = failure.keptAside[key] { return .bytes(data) }
        if let owner = exceptions.displacedItem(at: key) { return contents[owner].map(Wanted.item) ?? .nothing }
        if exceptions.recordKey(of: key) != key { return .nothing }
        return contents[key].map(Wanted.item) ?? .nothing
    }

    /// The bytes that were to be written under each key that was to be changed.
    private var attempted: [CacheKey: Set<Data>] {
        var attempted: [CacheKey: Set<Data>] = [:]
        for operation in failure.operations {
            switch operation {
            case .write(let key, let data): attempted[key, default: []].insert(data)
            case .remove(let key): attempted[key, default: []].formUnion([])
            case .removeAll: break
            }
        }
        return attempted
    }

    private var concernsAllItems: Bool {
        failure.operations.contains { if case .removeAll = $0 { true } else { false } }
    }
}
