import Bodega
import Foundation
import Logging

extension RecordStorage {

    /// The number of records of an older shape that are rewritten in one batch.
    private static var rewritingBatch: Int { 1_000 }

    /// Reads all records.
    ///
    /// - Parameter needsCursor: Whether the method throws if the engine has a log whose cursor can't be read.
    /// - Throws: The engine's error. A record that can't be decoded does not cause an error.
    func load(needsCursor: Bool = false) async throws -> LoadedRecords<Item> {
        try await referenceDeclaration.declare(to: engine)
        let decoding = ConcurrentDecoding(coding)
        let (cursor, unreadable) = try await readAll(into: decoding, needsCursor: needsCursor)
        var decoded = await decoding.result()
        decoded.unreadable = unreadable
        log(decoded.undecodable)
        // Larger records may make the engine evict others.
        // At an earlier moment, it is not known whether they have changed since.
        if coding.migration != nil, !StorageMoment.isCurrent, await rewriteOld(decoded) {
            return try await load(needsCursor: needsCursor)
        }
        var loaded = LoadedRecords(decoded)
        loaded.cursor = cursor
        return loaded
    }

    /// The outcome of ``load(needsCursor:)``.
    func loadResult() async -> Result<LoadedRecords<Item>, any Error> {
        do { return .success(try await load()) } catch { return .failure(error) }
    }

    /// Reads and decodes the records under some keys.
    ///
    /// - Returns: The records that exist.
    func load(_ keys: [CacheKey]) async throws -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        let (records, unreadable) = try await fetch(keys)
        return await decode(records, unreadable: unreadable)
    }

    /// Decodes records, and adds those that the engine can't read.
    func decode(
        _ records: [(key: CacheKey, data: Data)], unreadable: [StorageError]
    ) async -> [(key: CacheKey, record: DecodedRecord<Item>)] {
        let decoded = await records.concurrentCompactMap { [coding] part, receive in
            coding.decode(part) { index, item, key, isOld in
                receive((records[index].key, .item(item, belongsUnder: key, isOld: isOld)))
            } failure: { index, error in
                receive((records[index].key, DecodedRecord<Item>.undecodable(error)))
            }
        }
        return decoded + unreadable.compactMap { error in error.key.map { ($0, .undecodable(error)) } }
    }

    /// Rewrites records in the current shape, each under its key. If this fails, a later load rewrites the rest.
    ///
    /// - Returns: Whether the engine has evicted records.
    private func rewriteOld(_ decoded: DecodedRecords<Item>) async -> Bool {
        var hasEvicted = false
        let old = decoded.old.sorted { $0.key < $1.key }.compactMap { index, data -> (CacheKey, Data, Item)? in
            guard case .item(let item, _, _)? = decoded.irregular[index] else { return nil }
            return (decoded.keys[index], data, item)
        }
        for start in stride(from: 0, to: old.count, by: Self.rewritingBatch) {
            let batch = Array(old[start..<min(start + Self.rewritingBatch, old.count)])
            do {
                if try await rewrite(batch) { hasEvicted = true }
            } catch {
                renewOrigin()
                hasEvicted = hasEvicted || traits.contains(.evicts)
                boutiqueLogger.warning(
                    "Records of an older shape could not be rewritten. They are loaded, and the next load retries.",
                    metadata: ["error": "\(error)"]
                )
                break
            }
        }
        return hasEvicted
    }

    /// - Returns: Whether the engine has evicted records.
    private func rewrite(_ batch: [(key: CacheKey, data: Data, item: Item)]) async throws -> Bool {
        let encoded = await batch.map(\.item).concurrentCompactMap { [coding] part, receive in
            for encoded in coding.encode(part) { receive(encoded.data) }
        }
        // Skip records that another program has changed or removed since they were read.
        let current = Dictionary(try await fetch(batch.map { $0.key }).records.map { ($0.key, $0.data) }) { $1 }
        var operations: [StorageOperation] = []
        for (record, result) in zip(batch, encoded) where current[record.key] == record.data {
            switch result {
            case .success(let data): operations.append(.write(key: record.key, data: data))
            case .failure(let error):
                boutiqueLogger.warning(
                    "A record of an older shape could not be encoded in the current one. It stays as it is.",
                    metadata: ["error": "\(error)"]
                )
            }
        }
        if operations.isEmpty { return false }
        return try await !apply(operations).report.evicted.isEmpty
    }
}
