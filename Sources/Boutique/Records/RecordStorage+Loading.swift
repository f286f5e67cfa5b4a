public import Bodega
import Foundation
import Logging

/// What was read from an engine.
struct LoadedRecords<Item: StorableItem>: Sendable {
    var contents = OrderedItems<Item>()
    var exceptions = RecordExceptions()
    /// The place in the engine's history at which they were read, if that is known.
    var cursor: StorageCursor?
}

/// A record after decoding.
enum DecodedRecord<Item: StorableItem>: Sendable {
    /// An item, the key that it belongs under, and whether the record has an older shape.
    case item(Item, belongsUnder: CacheKey, isOld: Bool)
    case undecodable(StorageError)

    /// Why it is not an item.
    var error: StorageError? {
        if case .undecodable(let error) = self { error } else { nil }
    }
}

/// All records after decoding: nearly always items of today's shape under their own keys, and the others.
private struct DecodedRecords<Item: StorableItem>: Sendable {
    let records: [(key: CacheKey, data: Data)]
    /// The items of today's shape under their own keys, without gaps in the places of the others.
    let items: [Item]
    /// The others, by the index of their record.
    let others: [Int: DecodedRecord<Item>]

    /// One error for each record that can't be decoded, in the order of the records.
    var undecodable: [StorageError] {
        others.sorted { $0.key < $1.key }.compactMap { $0.value.error }
    }

    /// Hands over all records in order.
    func forEach(_ body: (CacheKey, DecodedRecord<Item>) -> Void) {
        var next = items.startIndex
        for (index, (key, _)) in records.enumerated() {
            if let other = others[index] {
                body(key, other)
            } else {
                // In bounds: each record is an item or one of the others.
                body(key, .item(items[next], belongsUnder: key, isOld: false))
                next += 1
            }
        }
    }
}

extension RecordStorage {

    /// How many records of an older shape are rewritten with one call to the engine.
    private static var rewritingBatch: Int { 1_000 }

    /// Reads all records.
    ///
    /// - Parameter needsCursor: Whether it fails if the engine has a history and the place in it can't be found out.
    /// - Throws: What the engine throws. That a record cannot be decoded is not an error here.
    func load(needsCursor: Bool = false) async throws -> LoadedRecords<Item> {
        let (records, cursor) = try await fetchAll(needsCursor: needsCursor)
        // While the records are decoded; nearly always each of them is an item under its own key.
        async let ranks = Dictionary(ranking: records.lazy.map { $0.key })
        let others = Locked<[Int: DecodedRecord<Item>]>([:])
        let items: [Item] = await records.concurrentCompactMap { [coding] part, receive in
            coding.decode(part) { index, item, key, isOld in
                if !isOld, key == records[index].key { return receive(item) }
                let other = DecodedRecord.item(item, belongsUnder: key, isOld: isOld)
                others.withLock { $0[index] = other }
            } failure: { index, error in
                others.withLock { $0[index] = .undecodable(error) }
            }
        }
        let decoded = DecodedRecords(records: records, items: items, others: others.withLock { $0 })
        log(decoded.undecodable)
        if coding.migration != nil { await rewriteOld(decoded) }
        var loaded = assemble(decoded, await ranks)
        loaded.cursor = cursor
        return loaded
    }

    /// Reads some records anew.
    ///
    /// - Returns: The records that exist.
    func load(_ keys: [CacheKey]) async throws -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        await decode(try await engine.fetch(keys: keys))
    }

    /// Decodes records that were read.
    func decode(_ records: [(key: CacheKey, data: Data)]) async -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        await records.concurrentCompactMap { [coding] part, receive in
            coding.decode(part) { index, item, key, isOld in
                receive((records[index].key, .item(item, belongsUnder: key, isOld: isOld)))
            } failure: { index, error in
                receive((records[index].key, .undecodable(error)))
            }
        }
    }

    /// Puts the items in order. Of several records of one item, the one under its own key wins, else the one with the
    /// smallest key; the others are reported. A record that is kept aside gets a greater key than it had, so the same one
    /// wins at each load.
    private func assemble(_ decoded: DecodedRecords<Item>, _ ranks: [CacheKey: Int]) -> LoadedRecords<Item> {
        var loaded = LoadedRecords<Item>()
        if decoded.others.isEmpty, let contents = OrderedItems(decoded.items, ranks: ranks) {
            loaded.contents = contents
            return loaded
        }
        loaded.contents.reserveCapacity(decoded.records.count)
        decoded.forEach { key, record in
            switch record {
            case .undecodable(let error):
                loaded.exceptions.report(error)
            case .item(let item, let itemKey, _) where key == itemKey:
                loaded.contents.insert(item, under: itemKey)
                if let other = loaded.exceptions.settle(itemKey) {
                    loaded.exceptions.reportDuplicate(other, of: itemKey)
                }
            case .item(let item, let itemKey, _):
                let rival = loaded.contents.contains(itemKey) ? loaded.exceptions.recordKey(of: itemKey) : nil
                if let rival, rival == itemKey || rival.comesBefore(key) {
                    loaded.exceptions.reportDuplicate(key, of: itemKey)
                } else {
                    if let rival = loaded.exceptions.settle(itemKey) {
                        loaded.exceptions.reportDuplicate(rival, of: itemKey)
                    }
                    loaded.contents.insert(item, under: itemKey)
                    loaded.exceptions.displace(itemKey, to: key)
                }
            }
        }
        return loaded
    }

    /// Writes records of an older shape in today's, each under its key. What fails is done at a later load.
    private func rewriteOld(_ decoded: DecodedRecords<Item>) async {
        let old: [(key: CacheKey, data: Data, item: Item)] = decoded.others.sorted { $0.key < $1.key }.compactMap {
            index, record in
            guard case .item(let item, _, true) = record else { return nil }
            return (decoded.records[index].key, decoded.records[index].data, item)
        }
        for start in stride(from: 0, to: old.count, by: Self.rewritingBatch) {
            let batch = Array(old[start..<min(start + Self.rewritingBatch, old.count)])
            do {
                try await rewrite(batch)
            } catch {
                renewOrigin()
                boutiqueLogger.warning(
                    "Records of an older shape could not be rewritten. They are read all the same.",
                    metadata: ["error": "\(error)"]
                )
                return
            }
        }
    }

    private func rewrite(_ batch: [(key: CacheKey, data: Data, item: Item)]) async throws {
        let encoded = await batch.map(\.item).concurrentCompactMap { [coding] part, receive in
            for encoded in coding.encode(part) { receive(encoded.data) }
        }
        // What somebody else has changed or removed since it was read is theirs.
        let current = Dictionary(try await engine.fetch(keys: batch.map { $0.key }).map { ($0.key, $0.data) }) { $1 }
        var operations: [StorageOperation] = []
        for (record, result) in zip(batch, encoded) where current[record.key] == record.data {
            switch result {
            case .success(let data): operations.append(.write(key: record.key, data: data))
            case .failure(let error):
                boutiqueLogger.warning(
                    "A record of an older shape is read, but can't be written in today's.",
                    metadata: ["error": "\(error)"]
                )
            }
        }
        if !operations.isEmpty { try await apply(operations) }
    }
}

extension CacheKey {
    fileprivate func comesBefore(_ other: CacheKey) -> Bool {
        (rawValue, kind.rawValue) < (other.rawValue, other.kind.rawValue)
    }
}

extension StorageError.Code {
    /// Two records hold items with the same identifier, so only one of them is shown.
    public static let duplicateRecord = StorageError.Code(rawValue: "duplicateRecord")
}
