import Bodega
import Foundation

/// Finds for each write and removal of a batch what it means for the records, and keeps those that are in the way.
struct RecordPlaces<Item: StorableItem> {
    let engine: any StorageEngine
    /// Where the records are after what was prepared.
    private(set) var map: RecordMap
    /// The items before the batch, unless the map is empty.
    private let contents: StoreContents<Item>?
    /// The items that the batch has written, unless the map is empty.
    private var written: Set<CacheKey> = []

    init(engine: any StorageEngine, map: RecordMap, contents: StoreContents<Item>?) {
        self.engine = engine
        self.map = map
        self.contents = contents
    }

    /// Prepares to write an item under its key.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - write: The write.
    ///   - prepared: Gets the write, and what has to come before and after it.
    mutating func write(
        _ key: CacheKey,
        _ write: StorageOperation,
        _ prepared: inout PreparedOperation<Item>
    ) async throws {
        let old = map.settle(key)
        // A record of that kind of key may have the place of another item, which may be about to be written there.
        if let old, old.kind == .hashed { prepared.records.append(.remove(key: old)) }
        try await makeWay(for: key, &prepared)
        prepared.records.append(write)
        // A file of the first Bodega has just been replaced at its place, and nothing is left to remove.
        if let old, old.kind != .hashed { prepared.records.append(.remove(key: old)) }
        written.insert(key)
    }

    /// Moves what is under a key and is needed, to where it belongs or aside.
    private mutating func makeWay(for key: CacheKey, _ prepared: inout PreparedOperation<Item>) async throws {
        // A file of the first Bodega is in the way of the key that it is named after.
        for record in map.hasDisplacedItems ? [key, key.asFileName] : [] {
            guard let other = map.displacedItem(at: record) else { continue }
            guard let data = try await engine.fetch(key: record) else { continue }
            try await write(other, .write(key: other, data: data), &prepared)
        }
        guard let report = map.reportedRecord(replacedBy: key), let old = report.key else { return }
        map.withdrawReport(of: old)
        guard let data = try await engine.fetch(key: old) else { return }
        let aside = CacheKey("\(old.rawValue) (kept aside, \(UUID().uuidString))")
        prepared.records.append(.write(key: aside, data: data))
        prepared.keptAside[old] = data
        var moved = report
        moved.key = aside
        map.report(moved)
    }

    /// Prepares to remove an item. What is under its key and is no item stays.
    mutating func remove(_ key: CacheKey, _ prepared: inout PreparedOperation<Item>) {
        if map.isEmpty {
            prepared.records.append(.remove(key: key))
        } else if let old = map.settle(key) {
            prepared.records.append(.remove(key: old))
        } else if written.remove(key) != nil || isAtHome(key) {
            prepared.records.append(.remove(key: key))
        }
    }

    /// Prepares to remove all items. Reported records stay: nobody knows yet what is in them.
    mutating func removeAll(_ prepared: inout PreparedOperation<Item>) {
        if map.hasReports {
            let items = written.union((contents?.keysInOrder ?? []).map { map.recordKey(of: $0) })
            prepared.records += items.filter { !map.isReported($0) }.map { .remove(key: $0) }
        } else {
            prepared.records.append(.removeAll)
        }
        map.settleAll()
        written = []
    }

    private func isAtHome(_ key: CacheKey) -> Bool {
        contents?.contains(key) == true && map.displacedItem(at: key) == nil && !map.isReported(key)
    }
}
