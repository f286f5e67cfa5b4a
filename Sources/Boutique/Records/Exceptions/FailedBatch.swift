import Bodega
import Foundation

/// A batch whose write has failed, so that its outcome has to be determined.
///
/// The engines of this package change nothing when they fail. Other engines may have applied a part, and over a network
/// even a completely applied batch can end with an error. A failed operation must change nothing, so the store reads
/// the records again and undoes what was applied. An engine with a log is an exception: it applies batches atomically
/// and is shared with other origins, and undoing could overwrite what they have written in the meantime.
struct FailedBatch: Sendable {
    /// The operations of the batch.
    let operations: [StorageOperation]
    /// The original bytes of the exceptional records that the batch was to replace, move or remove.
    let originals: [CacheKey: Data]
    /// Whether the engine may have evicted other records.
    let hasEvictions: Bool

    /// The difference that may remain between stored and shown items after a failure.
    enum Difference: Sendable {
        case none
        /// The order of the items, or changes in the log.
        case order
        case items
        /// The engine may have evicted records, which stay evicted.
        case evictions
    }
}

extension RecordStorage {

    /// Undoes the applied part of a failed batch, unless the engine has a log.
    ///
    /// - Parameters:
    ///   - failure: The batch.
    ///   - contents: The items that should be stored.
    ///   - exceptions: The exceptions among their records.
    ///   - cursor: The store's cursor in the engine's log, if it is known.
    /// - Returns: The difference that may remain between stored and shown items.
    /// - Throws: The engine's error if the outcome could not be determined or undone, and
    ///   `StorageError.Code.encodingFailed` if an item could not be restored.
    func undo(
        _ failure: FailedBatch,
        _ contents: OrderedItems<Item>,
        _ exceptions: RecordExceptions,
        since cursor: StorageCursor?
    ) async throws -> FailedBatch.Difference {
        if changeLog != nil {
            guard let cursor else { return .order }
            return try await mayHaveOwnChanges(since: cursor) ? .order : .none
        }
        let planner = UndoPlanner(storage: self, failure: failure, contents: contents, exceptions: exceptions)
        let plan = try await planner.plan()
        var hasEvictions = failure.hasEvictions
        if !plan.operations.isEmpty, try await !apply(plan.operations).report.evicted.isEmpty { hasEvictions = true }
        if let unencodable = plan.unencodable { throw unencodable }
        if plan.leavesCopies { return .items }
        if hasEvictions { return .evictions }
        return plan.operations.isEmpty ? .none : .order
    }
}

/// A comparison of the stored records with the expected ones, key by key.
private struct UndoPlanner<Item: StorableItem> {
    let storage: RecordStorage<Item>
    let failure: FailedBatch
    let contents: OrderedItems<Item>
    let exceptions: RecordExceptions

    /// The expected content of a key.
    private enum Expected {
        case bytes(Data)
        case item(Item)
        case nothing
    }

    /// The operations that restore the state before the failed batch.
    struct Plan {
        var operations: [StorageOperation] = []
        /// The error of an item that can't be encoded, and so can't be restored.
        var unencodable: StorageError?
        /// Whether reported records stay under the keys to which the batch has copied them, because another program has
        /// written an item under their own keys.
        var leavesCopies = false
    }

    func plan() async throws -> Plan {
        let attempted = attempted
        var keys: [CacheKey] = Array(attempted.keys)
        if affectsAllItems {
            keys = contents.keysInOrder.map { exceptions.recordKey(of: $0) }
            keys += Set(attempted.keys).subtracting(keys)
        }
        keys += Set(failure.originals.keys).subtracting(keys)
        let present = Set(try await storage.engine.fetchKeys(among: keys))
        let written = keys.filter { present.contains($0) && attempted[$0]?.isEmpty == false }
        let stored = Dictionary(try await storage.fetch(written).records.map { ($0.key, $0.data) }) { $1 }

        let overwritten = Set(
            failure.originals.compactMap { key, data in
                guard let found = stored[key], found != data else { return nil as Data? }
                return mayReplace(found, key, attempted) ? nil : data
            })
        var plan = Plan(leavesCopies: !overwritten.isEmpty)
        var removedFiles: Set<CacheKey> = []
        for key in written {
            guard case .nothing = expectedContent(of: key), let data = stored[key] else { continue }
            guard mayReplace(data, key, attempted), !overwritten.contains(data) else { continue }
            plan.operations.append(.remove(key: key))
            if exceptions.hasReports || exceptions.hasDisplacedItems { removedFiles.insert(key.asFileName) }
        }
        // A file of the first Bodega is also found under a key that was just removed.
        for key in keys + removedFiles.subtracting(keys) {
            let found = removedFiles.contains(key) ? nil : stored[key]
            let isPresent = present.contains(key) && !removedFiles.contains(key)
            if let found, isPresent, !mayReplace(found, key, attempted) { continue }
            do throws(StorageError) {
                if let data = try bytes(toRestore: key, found, isPresent) {
                    plan.operations.append(.write(key: key, data: data))
                }
            } catch {
                plan.unencodable = error
            }
        }
        return plan
    }

    /// Returns whether the undo may replace bytes: the batch has written them, or they are not an item. Any other item
    /// was written by another program.
    private func mayReplace(_ data: Data, _ key: CacheKey, _ attempted: [CacheKey: Set<Data>]) -> Bool {
        if attempted[key]?.contains(data) == true { return true }
        return if case .failure = storage.coding.itemKey(in: data, under: key) { true } else { false }
    }

    /// Returns the bytes to write under a key, or `nil` if the stored ones are right.
    private func bytes(toRestore key: CacheKey, _ found: Data?, _ isPresent: Bool) throws(StorageError) -> Data? {
        if isPresent, found == nil { return nil }
        switch expectedContent(of: key) {
        case .nothing: return nil
        case .bytes(let data): return found == data ? nil : data
        case .item(let item):
            let data = try storage.coding.encode([item])[0].data.get()
            return data == found ? nil : data
        }
    }

    private func expectedContent(of key: CacheKey) -> Expected {
        if let data = failure.originals[key] { return .bytes(data) }
        if let owner = exceptions.displacedItem(at: key) { return contents[owner].map(Expected.item) ?? .nothing }
        if exceptions.recordKey(of: key) != key { return .nothing }
        return contents[key].map(Expected.item) ?? .nothing
    }

    /// The bytes that the batch was to write under each key, or an empty set for a key that it was only to remove.
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

    private var affectsAllItems: Bool {
        failure.operations.contains { if case .removeAll = $0 { true } else { false } }
    }
}
