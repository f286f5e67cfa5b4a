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

extension RecordStorage {

    /// How many records of an older shape are rewritten with one call to the engine.
    private static var rewritingBatch: Int { 1_000 }

    /// Reads all records.
    ///
    /// - Throws: What the engine throws. That a record cannot be decoded is not an error here.
    func load() async throws -> LoadedRecords<Item> {
        let records = try await engine.fetchAll()
        let decoded = await decode(records)
        if coding.history != nil { await rewriteOld(records, decoded) }
        return assemble(records.map { $0.key }, decoded)
    }

    /// Reads some records anew.
    ///
    /// - Returns: The records that exist.
    func load(_ keys: [CacheKey]) async throws -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        let records = try await engine.fetch(keys: keys)
        return Array(zip(records.map(\.key), await decode(records)))
    }

    private func decode(_ records: [(key: CacheKey, data: Data)]) async -> [DecodedRecord<Item>] {
        await records.concurrentMap { [coding] key, data in
            do throws(StorageError) {
                let (item, isOld) = try coding.decode(data, for: key)
                return .item(item, belongsUnder: coding.key(of: item), isOld: isOld)
            } catch {
                return .undecodable(error)
            }
        }
    }

    /// Puts the items in order. Of several records of one item, the one under its own key wins, else the one whose key is
    /// the greatest, so that it is the same one at each load, whatever was moved; the others are reported.
    private func assemble(_ keys: [CacheKey], _ records: consuming [DecodedRecord<Item>]) -> LoadedRecords<Item> {
        var loaded = LoadedRecords<Item>()
        loaded.contents.reserveCapacity(records.count)
        // Taken off the end one by one, the items are moved and not copied, which touches all that they refer to.
        records.reverse()
        for key in keys {
            guard let record = records.popLast() else { break }
            switch consume record {
            case .undecodable(let error):
                loaded.map.report(error)
            case .item(let item, let itemKey, _) where key == itemKey:
                loaded.contents.insert(item, under: itemKey)
                if let other = loaded.map.settle(itemKey) { loaded.map.reportDuplicate(other, of: itemKey) }
            case .item(let item, let itemKey, _):
                let rival = loaded.contents.contains(itemKey) ? loaded.map.recordKey(of: itemKey) : nil
                if let rival, rival == itemKey || key.comesBefore(rival) {
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
    private func rewriteOld(_ records: [(key: CacheKey, data: Data)], _ decoded: [DecodedRecord<Item>]) async {
        let old: [(key: CacheKey, data: Data, item: Item)] = zip(records, decoded).compactMap { record, decoded in
            if case .item(let item, _, true) = decoded { (record.key, record.data, item) } else { nil }
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
        let encoded = await batch.concurrentMap { [coding] record in
            Result { () throws(StorageError) in try coding.encode(record.item, for: record.key) }
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
