import Bodega
import Foundation

/// What has to be found out after a write failed.
///
/// Our engines change nothing when they fail. Engines that others wrote may have applied a part of the batch, and behind
/// a network even a batch that was applied whole can come back as an error. A failed operation must change nothing, so
/// the records concerned are read again, and what was applied is undone. Not so on an engine with a history, which applies
/// batches whole and is shared with others: what they acknowledged in the meantime could be overwritten.
struct Reconciliation: Sendable {
    /// What was to be written.
    private(set) var operations: [StorageOperation] = []
    /// The reported records that were to be replaced.
    private(set) var keptAside: [CacheKey: Data] = [:]

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
    ///   - map: Where their records should be.
    ///   - cursor: The place in the engine's history that the store has reached, if it follows it.
    /// - Returns: Whether what is stored may differ from what is shown, and must be read again.
    /// - Throws: If it could not be found out or undone.
    func undo(
        _ failure: Reconciliation,
        _ contents: StoreContents<Item>,
        _ map: RecordMap,
        since cursor: StorageCursor?
    ) async throws -> Bool {
        if observableEngine != nil {
            guard let cursor else { return true }
            return try await mayHaveOwnChanges(since: cursor)
        }
        let undoing = Undoing(storage: self, failure: failure, contents: contents, map: map)
        let (operations, unencodable) = try await undoing.operations()
        if !operations.isEmpty { try await apply(operations) }
        if let unencodable { throw unencodable }
        return !operations.isEmpty
    }
}

/// Compares what is stored with what should be, key by key.
private struct Undoing<Item: StorableItem> {
    let storage: RecordStorage<Item>
    let failure: Reconciliation
    let contents: StoreContents<Item>
    let map: RecordMap

    /// What should be under a key.
    private enum Wanted {
        case bytes(Data)
        case item(Item)
        case nothing
    }

    /// What restores the state before the failed batch, and the error of an item that can't be restored.
    func operations() async throws -> (operations: [StorageOperation], unencodable: StorageError?) {
        let attempted = attempted
        var keys: [CacheKey] = Array(attempted.keys)
        if concernsAllItems {
            keys = contents.keysInOrder.map { map.recordKey(of: $0) }
            keys += Set(attempted.keys).subtracting(keys)
        }
        keys += Set(failure.keptAside.keys).subtracting(keys)
        let present = Set(try await storage.engine.fetchKeys(among: keys))
        let written = keys.filter { present.contains($0) && attempted[$0]?.isEmpty == false }
        let stored = Dictionary(try await storage.engine.fetch(keys: written).map { ($0.key, $0.data) }) { $1 }

        var removals: [StorageOperation] = []
        var removedFiles: Set<CacheKey> = []
        for key in written {
            guard case .nothing = wanted(key), let data = stored[key] else { continue }
            // Anything else has been written by somebody else meanwhile.
            guard attempted[key]?.contains(data) == true || !isItem(data, key) else { continue }
            removals.append(.remove(key: key))
            if map.hasReports || map.hasDisplacedItems { removedFiles.insert(key.asFileName) }
        }
        var restored: [StorageOperation] = []
        var unencodable: StorageError?
        // Files of the first Bodega answer to the keys that were just removed.
        for key in keys + removedFiles.subtracting(keys) {
            let found = removedFiles.contains(key) ? nil : stored[key]
            let isThere = present.contains(key) && !removedFiles.contains(key)
            let tried = attempted[key] ?? []
            do throws(StorageError) {
                if let data = try bytes(toRestore: key, found, isThere, tried) {
                    restored.append(.write(key: key, data: data))
                }
            } catch {
                unencodable = error
            }
        }
        return (removals + restored, unencodable)
    }

    /// The bytes to write under a key, `nil` if what is there is right.
    private func bytes(
        toRestore key: CacheKey,
        _ found: Data?,
        _ isThere: Bool,
        _ attempted: Set<Data>
    ) throws(StorageError) -> Data? {
        switch wanted(key) {
        case .nothing: return nil
        case .bytes(let data): return isThere && (found == nil || found == data) ? nil : data
        case .item(let item):
            if isThere {
                guard let found, attempted.contains(found) || !isItem(found, key) else { return nil }
            }
            let data = try storage.coding.encode([item])[0].data.get()
            return data == found ? nil : data
        }
    }

    private func wanted(_ key: CacheKey) -> Wanted {
        if let data = failure.keptAside[key] { return .bytes(data) }
        if let owner = map.displacedItem(at: key) { return contents[owner].map(Wanted.item) ?? .nothing }
        if map.recordKey(of: key) != key { return .nothing }
        return contents[key].map(Wanted.item) ?? .nothing
    }

    private func isItem(_ data: Data, _ key: CacheKey) -> Bool {
        storage.coding.item(in: data, under: key) != nil
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
