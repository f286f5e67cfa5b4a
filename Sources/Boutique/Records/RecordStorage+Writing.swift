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
    /// Reported records that are about to be replaced, and are kept aside.
    var keptAside: [CacheKey: Data] = [:]
}

/// How operations ended that were to be written as one batch.
struct WrittenOperations<Item: StorableItem>: Sendable {
    /// For each operation that was looked at, what it is, or why it can't be written.
    var prepared: [Result<PreparedOperation<Item>, any Error>]
    /// Where the records are now.
    var map: RecordMap
    /// Whether those that could be prepared were written.
    var outcome: Result<Void, any Error>
}

extension RecordStorage {

    /// Encodes operations and writes them with one call to the engine. It is one step, so that the main actor need not be
    /// waited for in between.
    ///
    /// - Parameters:
    ///   - operations: The steps of each operation.
    ///   - before: Where the records are.
    ///   - contents: The items, if the records are not all simply items under their own keys.
    ///   - endsAtFailure: Whether nothing behind an operation that can't be prepared is looked at, because it stands on
    ///     that.
    func write(
        _ operations: [[StoreStep<Item>]],
        _ before: RecordMap,
        _ contents: StoreContents<Item>?,
        endsAtFailure: Bool
    ) async -> WrittenOperations<Item> {
        // All at once, so that many small operations are encoded on all cores, like a large one.
        let encoded = await encode(operations.flatMap { $0.flatMap { $0.insertedItems } })
        var encodedCount = 0
        var places = RecordPlaces(engine: engine, map: before, contents: contents)
        var written = WrittenOperations<Item>(prepared: [], map: before, outcome: .success(()))
        written.prepared.reserveCapacity(operations.count)
        for steps in operations {
            let own = encoded[encodedCount...].prefix(steps.reduce(0) { $0 + $1.insertedItems.count })
            encodedCount += own.count
            do {
                written.prepared.append(.success(try await prepare(steps, own, &places)))
            } catch {
                written.prepared.append(.failure(error))
                if endsAtFailure { break }
            }
        }
        written.map = places.map
        do {
            try await apply(written.prepared)
        } catch {
            written.outcome = .failure(error)
        }
        return written
    }

    private func apply(_ prepared: [Result<PreparedOperation<Item>, any Error>]) async throws {
        var records: [StorageOperation] = []
        if prepared.count == 1, case .success(let operation) = prepared[0] {
            records = operation.records
        } else {
            for case .success(let operation) in prepared { records += operation.records }
        }
        if !records.isEmpty { try await engine.apply(records) }
    }

    /// Encodes items on all cores.
    private func encode(_ items: [Item]) async -> [EncodedItem<Item>] {
        await items.concurrentMap { [coding] item in
            let key = coding.key(of: item)
            return EncodedItem(
                key: key,
                item: item,
                data: Result { () throws(StorageError) in try coding.encode(item, for: key) }
            )
        }
    }

    /// Finds out what is to be written for an operation. If it throws, the places are as before.
    private func prepare(
        _ steps: [StoreStep<Item>],
        _ encoded: ArraySlice<EncodedItem<Item>>,
        _ places: inout RecordPlaces<Item>
    ) async throws -> PreparedOperation<Item> {
        for item in encoded { _ = try item.data.get() }
        var encoded = encoded
        var prepared = PreparedOperation<Item>()
        prepared.records.reserveCapacity(encoded.count)
        // Kept only where there is something to keep, because a second reference would make each change copy it.
        let before = places.map.isEmpty ? nil : places
        do {
            for step in steps {
                switch step {
                case .insert(let items):
                    try await insert(encoded.prefix(items.count), &prepared, &places)
                    encoded = encoded.dropFirst(items.count)
                case .removeItems(let items):
                    remove(items.map { coding.key(of: $0) }, &prepared, &places)
                case .remove(let keys):
                    remove(keys, &prepared, &places)
                case .removeAll:
                    places.removeAll(&prepared)
                    prepared.changes.append(.removeAll)
                }
            }
        } catch {
            if let before { places = before }
            throw error
        }
        return prepared
    }

    /// Of items with one key the last wins, at the place of the first.
    private func insert(
        _ items: ArraySlice<EncodedItem<Item>>,
        _ prepared: inout PreparedOperation<Item>,
        _ places: inout RecordPlaces<Item>
    ) async throws {
        var inserted: [(key: CacheKey, item: Item)] = []
        inserted.reserveCapacity(items.count)
        var indices: [CacheKey: Int] = [:]
        for encoded in items {
            let write = StorageOperation.write(key: encoded.key, data: try encoded.data.get())
            if places.map.isEmpty {
                prepared.records.append(write)
            } else {
                try await places.write(encoded.key, write, &prepared)
            }
            if items.count > 1 {
                let index = indices[encoded.key, default: inserted.count]
                if index < inserted.count {
                    inserted[index].item = encoded.item
                    continue
                }
                indices[encoded.key] = index
            }
            inserted.append((encoded.key, encoded.item))
        }
        prepared.changes.append(.insert(inserted))
    }

    private func remove(
        _ keys: [CacheKey],
        _ prepared: inout PreparedOperation<Item>,
        _ places: inout RecordPlaces<Item>
    ) {
        for key in keys { places.remove(key, &prepared) }
        prepared.changes.append(.remove(keys))
    }
}

/// An item with its key and its bytes, or why it has none.
private struct EncodedItem<Item: StorableItem>: Sendable {
    let key: CacheKey
    let item: Item
    let data: Result<Data, StorageError>
}

extension StoreStep {
    fileprivate var insertedItems: [Item] {
        if case .insert(let items) = self { items } else { [] }
    }
}
