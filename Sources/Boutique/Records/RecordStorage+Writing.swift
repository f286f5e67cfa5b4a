import Bodega
import Foundation

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
    /// Records that could not be decoded, are about to be replaced, and are kept aside.
    var keptAside: [CacheKey: Data] = [:]
}

extension RecordStorage {

    /// Encodes operations and finds out what is to be written for them.
    ///
    /// - Parameters:
    ///   - operations: The steps of each operation.
    ///   - irregular: The irregular records before, and after the operations that did not fail.
    /// - Returns: For each operation, what is to be written, or why it can't be.
    func prepare(
        _ operations: [[StoreStep<Item>]],
        _ irregular: IrregularRecords
    ) async -> (results: [Result<PreparedOperation<Item>, any Error>], irregular: IrregularRecords) {
        // All at once, so that many small operations are encoded on all cores, like a large one.
        var encoded = await encode(operations.flatMap { $0.flatMap { $0.insertedItems } })[...]
        var irregular = irregular
        var results: [Result<PreparedOperation<Item>, any Error>] = []
        for steps in operations {
            // What it would take is taken also if it fails, so that the next one finds its own.
            let own = encoded.prefix(steps.reduce(0) { $0 + $1.insertedItems.count })
            encoded = encoded.dropFirst(own.count)
            do {
                var preparation = Preparation(storage: self, irregular: irregular, encoded: own, earlier: results)
                for step in steps { try await preparation.add(step) }
                irregular = preparation.irregular
                results.append(.success(preparation.prepared))
            } catch {
                results.append(.failure(error))
            }
        }
        return (results, irregular)
    }

    /// Prepares operations and writes those that can be, with one call to the engine. It is one step, so that the main
    /// actor need not be waited for in between.
    ///
    /// - Returns: What ``prepare(_:_:)`` returns, and whether the operations that did not fail there were written.
    func write(
        _ operations: [[StoreStep<Item>]],
        _ before: IrregularRecords
    ) async -> (
        results: [Result<PreparedOperation<Item>, any Error>], irregular: IrregularRecords,
        written: Result<Void, any Error>
    ) {
        let (results, irregular) = await prepare(operations, before)
        let ready = results.compactMap { result in
            if case .success(let operation) = result { operation } else { nil }
        }
        let records = ready.count == 1 ? ready[0].records : ready.flatMap { $0.records }
        do {
            if !records.isEmpty { try await engine.apply(records) }
            return (results, irregular, .success(()))
        } catch {
            return (results, irregular, .failure(error))
        }
    }

    /// Encodes items on all cores.
    func encode(_ items: [Item]) async -> [EncodedItem<Item>] {
        await items.concurrentMap { [coding] item in
            let key = coding.key(of: item)
            return EncodedItem(
                key: key,
                item: item,
                data: Result { () throws(StorageError) in try coding.encode(item, for: key) }
            )
        }
    }
}

/// An item with its key and its bytes, or why it has none.
struct EncodedItem<Item: StorableItem>: Sendable {
    let key: CacheKey
    let item: Item
    let data: Result<Data, StorageError>
}

extension StoreStep {
    fileprivate var insertedItems: [Item] {
        if case .insert(let items) = self { items } else { [] }
    }
}

/// The preparation of one operation, step by step.
private struct Preparation<Item: StorableItem> {
    let storage: RecordStorage<Item>
    var irregular: IrregularRecords
    var encoded: ArraySlice<EncodedItem<Item>>
    /// The operations that will be written before this one.
    let earlier: [Result<PreparedOperation<Item>, any Error>]
    var prepared = PreparedOperation<Item>()

    mutating func add(_ step: StoreStep<Item>) async throws {
        switch step {
        case .insert(let items):
            let own = encoded.prefix(items.count)
            encoded = encoded.dropFirst(items.count)
            try await insert(own)
        case .removeItems(let items): remove(items.map(storage.coding.key))
        case .remove(let keys): remove(keys)
        case .removeAll: try await removeAll()
        }
    }

    /// Of items with one key the last wins, at the place of the first.
    private mutating func insert(_ items: ArraySlice<EncodedItem<Item>>) async throws {
        var inserted: [(key: CacheKey, item: Item)] = []
        inserted.reserveCapacity(items.count)
        prepared.records.reserveCapacity(prepared.records.count + items.count)
        var places: [CacheKey: Int] = [:]
        for encoded in items {
            let data = try encoded.data.get()
            if !irregular.isEmpty { try await makeWay(for: encoded.key) }
            prepared.records.append(.write(key: encoded.key, data: data))
            if items.count > 1 {
                let place = places[encoded.key, default: inserted.count]
                if place < inserted.count {
                    inserted[place].item = encoded.item
                    continue
                }
                places[encoded.key] = place
            }
            inserted.append((encoded.key, encoded.item))
        }
        prepared.changes.append(.insert(inserted))
    }

    private mutating func remove(_ keys: [CacheKey]) {
        for key in keys where !irregular.isUndecodable(key) {
            prepared.records.append(.remove(key: key))
            prepared.records += irregular.takeStrays(of: key).map { .remove(key: $0) }
        }
        prepared.changes.append(.remove(keys))
    }

    /// Removes all items, but no record that could not be decoded: nobody knows yet what is in it.
    private mutating func removeAll() async throws {
        if irregular.isDecodable {
            prepared.records.append(.removeAll)
        } else {
            var keys = try await storage.engine.fetchKeys()
            for case .success(let operation) in earlier { keys += operation.records.compactMap(\.writtenKey) }
            keys += prepared.records.compactMap(\.writtenKey)
            prepared.records += keys.filter { !irregular.isUndecodable($0) }.map { .remove(key: $0) }
        }
        irregular.removeStrays()
        prepared.changes.append(.removeAll)
    }

    /// Moves a record that could not be decoded out of the way of an item that is to be written under its key, and
    /// removes the item's other records.
    private mutating func makeWay(for key: CacheKey) async throws {
        prepared.records += irregular.takeStrays(of: key).map { .remove(key: $0) }
        guard let old = irregular.undecodableKey(replacedBy: key) else { return }
        irregular.remove(undecodable: old)
        guard let data = try await storage.engine.fetch(key: old) else { return }
        let aside = CacheKey("\(old.rawValue) (undecodable, \(UUID().uuidString))")
        prepared.records.append(.write(key: aside, data: data))
        prepared.keptAside[old] = data
        irregular.add(
            undecodable: StorageError(
                .decodingFailed,
                "The record could not be decoded. An item was stored under its key, \(old), so it was moved to this one.",
                key: aside
            ))
    }
}

extension StorageOperation {
    var writtenKey: CacheKey? {
        if case .write(let key, _) = self { key } else { nil }
    }
}
