import Bodega
import Foundation

/// Finds for each write and removal of a batch what it means for the records, and keeps those that are in the way.
struct WritePlanner<Item: StorableItem> {
    let storage: RecordStorage<Item>
    /// Where the records are after what was prepared.
    private(set) var exceptions: RecordExceptions
    /// Where they are before the batch.
    private let before: RecordExceptions
    /// The items before the batch, unless there are no exceptions.
    private let contents: OrderedItems<Item>?
    /// The items that the batch has written, and those that it has removed, unless there are no exceptions.
    private var written: Set<CacheKey> = []
    private var removed: Set<CacheKey> = []
    private var isCleared = false

    init(storage: RecordStorage<Item>, exceptions: RecordExceptions, contents: OrderedItems<Item>?) {
        self.storage = storage
        self.exceptions = exceptions
        before = exceptions
        self.contents = contents
    }

    /// Whether each record is and was an item under its own key, so that writes and removals mean just what they say.
    var isPlain: Bool { before.isEmpty && exceptions.isEmpty }

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
        let old = try await takeDisplacedRecord(of: key)
        // A record of that kind of key may have the place of another item, which may be about to be written there.
        if let old, old.kind == .hashed { prepared.records.append(.remove(key: old)) }
        try await moveItems(outOfTheWayOf: key, &prepared)
        try await keepAside(replacedBy: key, &prepared)
        prepared.records.append(write)
        if let old, old.kind != .hashed { prepared.records.append(.remove(key: old)) }
        written.insert(key)
    }

    /// Moves displaced items whose records are under a key to where they belong.
    private mutating func moveItems(
        outOfTheWayOf key: CacheKey,
        _ prepared: inout PreparedOperation<Item>
    ) async throws {
        // A file of the first Bodega is in the way of the key that it is named after.
        for record in exceptions.hasDisplacedItems ? [key, key.asFileName] : [] {
            guard let other = exceptions.displacedItem(at: record) else { continue }
            guard let data = try await storage.engine.fetch(key: record), holds(other, data, record) else {
                _ = exceptions.settle(other)
                continue
            }
            prepared.keptAside[record] = data
            try await write(other, .write(key: other, data: data), &prepared)
        }
    }

    /// Removes a reported record that a write will replace, after copying it to another key.
    ///
    /// It counts what is stored now. If another program has written an item with this key there in the meantime, the write
    /// replaces that item, and there is nothing to keep: a copy would be the item again after this one is removed.
    private mutating func keepAside(
        replacedBy key: CacheKey,
        _ prepared: inout PreparedOperation<Item>
    ) async throws {
        guard let old = exceptions.reportedRecord(replacedBy: key) else { return }
        let wasDuplicate = exceptions.isDuplicate(old, of: key)
        exceptions.withdrawReport(of: old)
        guard let data = try await storage.engine.fetch(key: old) else { return }
        prepared.keptAside[old] = data
        let aside = CacheKey("\(old.rawValue) (kept aside, \(UUID().uuidString))")
        switch storage.coding.itemKey(in: data, under: old) {
        case .success(key) where !wasDuplicate: break
        case .success(let item):
            prepared.records.append(.write(key: aside, data: data))
            // Another program has written it there since the store read the record.
            if item != key, !isShown(item) { prepared.leavesItemUnshown = true }
            exceptions.reportDuplicate(aside, of: item)
        case .failure(var error):
            prepared.records.append(.write(key: aside, data: data))
            error.key = aside
            exceptions.report(error)
        }
        // An item that overwrites a record takes its place in the order. The new one comes last, as it is shown.
        prepared.records.append(.remove(key: old))
    }

    /// Prepares to remove items, with all records that hold them. What is under their keys and is no item stays.
    mutating func remove(_ keys: [CacheKey], _ prepared: inout PreparedOperation<Item>) async throws {
        if isPlain {
            prepared.records += keys.map { .remove(key: $0) }
            return
        }
        let unseen = try await unseenRecords(ofItems: keys)
        for key in keys { try await remove(key, unseen, &prepared) }
    }

    private mutating func remove(
        _ key: CacheKey, _ unseen: [CacheKey: Data], _ prepared: inout PreparedOperation<Item>
    ) async throws {
        if let old = try await takeDisplacedRecord(of: key) { prepared.records.append(.remove(key: old)) }
        if written.remove(key) != nil || isAtHome(key) {
            prepared.records.append(.remove(key: key))
        } else if !removed.contains(key) {
            let file = key.asFileName
            for record in [key, file] {
                guard let data = unseen[record] else { continue }
                prepared.records.append(.remove(key: record))
                exceptions.withdrawReport(of: record)
                // What answers to both keys is put back as the file that it was, if the batch fails.
                if record == file || data != unseen[file] { prepared.keptAside[record] = data }
            }
        }
        removed.insert(key)
        try await removeDuplicates(exceptions.withdrawDuplicates(of: key), &prepared)
    }

    /// The records of items that other programs have written and that are not shown yet.
    ///
    /// Where there is a file of the first Bodega, it is among them: it answers to the key that it is named after, too.
    private func unseenRecords(ofItems keys: [CacheKey]) async throws -> [CacheKey: Data] {
        if isCleared { return [:] }
        var items: [CacheKey: CacheKey] = [:]
        for key in keys where !written.contains(key) && !removed.contains(key) && !isAtHome(key) {
            items[key] = key
            let file = key.asFileName
            if exceptions.recordKey(of: key) == file || exceptions.isReported(file) { items[file] = key }
        }
        if items.isEmpty { return [:] }
        let found = try await storage.engine.fetch(keys: Array(items.keys)).filter { record, data in
            items[record].map { holds($0, data, record) } == true
        }
        return Dictionary(found.map { ($0.key, $0.data) }) { first, _ in first }
    }

    /// Prepares to remove all items, with all records that hold them. What could not be decoded stays: nobody knows yet
    /// what is in it.
    mutating func removeAll(_ prepared: inout PreparedOperation<Item>) async throws {
        try await removeDuplicates(exceptions.withdrawAllDuplicates(), &prepared)
        if exceptions.hasReports {
            var records = written
            for key in contents?.keysInOrder ?? [] {
                if isAtHome(key) { records.insert(key) }
                if exceptions.recordKey(of: key) != key { records.insert(exceptions.recordKey(of: key)) }
            }
            prepared.records += records.map { .remove(key: $0) }
        } else {
            prepared.records.append(.removeAll)
        }
        exceptions.settleAll()
        written = []
        isCleared = true
    }

    /// - Parameter items: The keys of the records, each with that of its item.
    private mutating func removeDuplicates(
        _ items: [CacheKey: CacheKey],
        _ prepared: inout PreparedOperation<Item>
    ) async throws {
        if items.isEmpty { return }
        var records = Set(items.keys)
        for (record, data) in try await storage.engine.fetch(keys: Array(records)) {
            switch storage.coding.itemKey(in: data, under: record) {
            case .success(let item) where item == items[record]:
                prepared.keptAside[record] = data
                continue
            // Another program has written something else there.
            case .success: break
            case .failure(let error): exceptions.report(error)
            }
            records.remove(record)
        }
        // Also those that are not there yet, because this batch has moved them.
        prepared.records += records.map { .remove(key: $0) }
    }

    /// Notes that a displaced item is under its own key from now on, or gone.
    ///
    /// - Returns: The key of its record, unless somebody else has written something else there.
    private mutating func takeDisplacedRecord(of key: CacheKey) async throws -> CacheKey? {
        guard let record = exceptions.settle(key) else { return nil }
        guard let data = try await storage.engine.fetch(key: record), holds(key, data, record) else { return nil }
        return record
    }

    private func holds(_ key: CacheKey, _ data: Data, _ record: CacheKey) -> Bool {
        storage.coding.item(in: data, under: record).map(storage.coding.key(of:)) == key
    }

    /// Whether an item is among those that the store shows after what was prepared.
    private func isShown(_ key: CacheKey) -> Bool {
        written.contains(key) || !isCleared && !removed.contains(key) && contents?.contains(key) == true
    }

    /// Whether an item is under its own key, as far as the batch has not touched it.
    private func isAtHome(_ key: CacheKey) -> Bool {
        !isCleared && !removed.contains(key) && contents?.contains(key) == true && before.recordKey(of: key) == key
    }
}
