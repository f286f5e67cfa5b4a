public import Bodega
import Foundation
import Logging

/// What was read from an engine.
struct LoadedRecords<Item: StorableItem>: Sendable {
    var contents = StoreContents<Item>()
    var map = RecordMap()
}

/// A record after decoding.
enum DecodedRecord<Item: StorableItem>: Sendable {
    /// An item, the key that it belongs under, and whether the record has an older shape.
    case item(Item, belongsUnder: CacheKey, isOld: Bool)
    case undecodable(StorageError)
}

/// All records after decoding: nearly always items of today's shape under their own keys, and the others.
private struct DecodedRecords<Item: StorableItem>: Sendable {
    let keys: [CacheKey]
    /// The items of today's shape under their own keys; `nil` in the places of the others.
    let items: [Item?]
    let others: [Int: DecodedRecord<Item>]

    subscript(index: Int) -> DecodedRecord<Item> {
        if let other = others[index] { return other }
        guard let item = items[index] else { preconditionFailure("A record is an item or one of the others.") }
        return .item(item, belongsUnder: keys[index], isOld: false)
    }
}

extension RecordStorage {

    /// How many records of an older shape are rewritten with one call to the engine.
    private static var rewritingBatch: Int { 1_000 }

    /// Reads all records.
    ///
    /// - Throws: What the engine throws. That a record cannot be decoded is not an error here.
    func load() async throws -> LoadedRecords<Item> {
        let records = try await engine.fetchAll()
        let others = Locked<[Int: DecodedRecord<Item>]>([:])
        let items =
            await records.concurrentMap { [coding] part, receive in
                coding.decode(part) { index, decoded in
                    switch decoded {
                    case .item(let item, records[index].key, false):
                        receive(item)
                    default:
                        others.withLock { $0[index] = decoded }
                        receive(nil)
                    }
                }
            } as [Item?]
        let decoded = DecodedRecords(keys: records.map { $0.key }, items: items, others: others.withLock { $0 })
        if coding.history != nil { await rewriteOld(records, decoded) }
        return assemble(decoded)
    }

    /// Reads some records anew.
    ///
    /// - Returns: The records that exist.
    func load(_ keys: [CacheKey]) async throws -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        let records = try await engine.fetch(keys: keys)
        return await records.concurrentMap { [coding] part, receive in
            coding.decode(part) { index, decoded in receive((records[index].key, decoded)) }
        }
    }

    /// Puts the items in order. Of several records of one item, the one under its own key wins, else the one with the
    /// smallest key; the others are reported. A record that is kept aside gets a greater key than it had, so the same one
    /// wins at each load.
    private func assemble(_ decoded: DecodedRecords<Item>) -> LoadedRecords<Item> {
        var loaded = LoadedRecords<Item>()
        if decoded.others.isEmpty, let contents = StoreContents(decoded.items.compactMap { $0 }, decoded.keys) {
            loaded.contents = contents
            return loaded
        }
        loaded.contents.reserveCapacity(decoded.keys.count)
        for (index, key) in decoded.keys.enumerated() {
            switch decoded[index] {
            case .undecodable(let error):
                loaded.map.report(error)
            case .item(let item, let itemKey, _) where key == itemKey:
                loaded.contents.insert(item, under: itemKey)
                if let other = loaded.map.settle(itemKey) { loaded.map.reportDuplicate(other, of: itemKey) }
            case .item(let item, let itemKey, _):
                let rival = loaded.contents.contains(itemKey) ? loaded.map.recordKey(of: itemKey) : nil
                if let rival, rival == itemKey || rival.comesBefore(key) {
                    loaded.map.reportDuplicate(key, of: itemKey)
                } else {
                    if let rival = loaded.map.settle(itemKey) { loaded.map.reportDuplicate(rival, of: itemKey) }
                    loaded.contents.insert(item, under: itemKey)
                    loaded.map.displace(itemKey, to: key)
                }
            }
        }
        return loaded
    }

    /// Writes records of an older shape in today's, each under its key. What fails is done at a later load.
    private func rewriteOld(_ records: [(key: CacheKey, data: Data)], _ decoded: DecodedRecords<Item>) async {
        let old: [(key: CacheKey, data: Data, item: Item)] = decoded.others.keys.sorted().compactMap { index in
            guard case .item(let item, _, true) = decoded[index] else { return nil }
            return (records[index].key, records[index].data, item)
        }
        for start in stride(from: 0, to: old.count, by: Self.rewritingBatch) {
            let batch = Array(old[start..<min(start + Self.rewritingBatch, old.count)])
            do {
                try await rewrite(batch)
            } catch {
                boutiqueLogger.warning(
                    "Records of an older shape could not be rewritten. They are read all the same.",
                    metadata: ["error": "\(error)"]
                )
                return
            }
        }
    }

    private func rewrite(_ batch: [(key: CacheKey, data: Data, item: Item)]) async throws {
        let encoded = await batch.map(\.item).concurrentMap { [coding] part, receive in
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
        if !operations.isEmpty { try await engine.apply(operations) }
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
