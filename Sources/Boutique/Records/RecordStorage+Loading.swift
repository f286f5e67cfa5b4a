import Bodega
import Foundation
import Logging

/// What was read from an engine.
struct LoadedRecords<Item: StorableItem>: Sendable {
    var contents = StoreContents<Item>()
    var irregular = IrregularRecords()
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
        await rewriteOld(records.map(\.key), decoded)
        return assemble(records.map(\.key), decoded)
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

    /// Puts the items in order. Of several records of one item, the one under its own key wins, else the last.
    private func assemble(_ keys: [CacheKey], _ records: consuming [DecodedRecord<Item>]) -> LoadedRecords<Item> {
        var loaded = LoadedRecords<Item>()
        loaded.contents.reserveCapacity(records.count)
        var homeless: Set<CacheKey> = []
        // Taken off the end one by one, the items are moved and not copied, which touches all that they refer to.
        records.reverse()
        for key in keys {
            guard let record = records.popLast() else { break }
            switch consume record {
            case .undecodable(let error):
                loaded.irregular.add(undecodable: error)
            case .item(let item, let itemKey, _) where key.isHome(of: itemKey):
                loaded.contents.insert(item, under: itemKey)
                if !homeless.isEmpty { homeless.remove(itemKey) }
            case .item(let item, let itemKey, _):
                loaded.irregular.add(stray: key, of: itemKey)
                if homeless.contains(itemKey) || !loaded.contents.contains(itemKey) {
                    loaded.contents.insert(item, under: itemKey)
                    homeless.insert(itemKey)
                }
            }
        }
        return loaded
    }

    /// Writes records of an older shape in today's, each under its key. What fails is done at a later load.
    private func rewriteOld(_ keys: [CacheKey], _ records: [DecodedRecord<Item>]) async {
        guard coding.history != nil else { return }
        var batch: [StorageOperation] = []
        func write() async throws {
            try await engine.apply(batch)
            batch = []
        }
        do {
            for case (let key, .item(let item, _, true)) in zip(keys, records) {
                batch.append(.write(key: key, data: try coding.encode(item, for: key)))
                if batch.count == Self.rewritingBatch { try await write() }
            }
            if !batch.isEmpty { try await write() }
        } catch {
            boutiqueLogger.warning(
                "Records of an older shape could not be rewritten. They are read all the same.",
                metadata: ["error": "\(error)"]
            )
        }
    }
}
