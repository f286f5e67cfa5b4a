import Bodega
import Foundation

/// The translation of a batch's regular operations on records into those that preserve exceptional records.
///
/// It is needed only if there are exceptions. It reads the records that are in the way.
struct WritePlanner<Item: StorableItem>: Sendable {
    /// The exceptions after the planned operations.
    private(set) var exceptions: RecordExceptions
    /// The planned changes of the engine's records.
    private var records: [StorageOperation] = []
    /// The bytes of exceptional records that the batch replaces, moves or removes, to restore them if it fails.
    private(set) var originals: [CacheKey: Data] = [:]
    /// Whether the batch copies a record with an item that the store does not show.
    private(set) var leavesItemUnshown = false

    private let storage: RecordStorage<Item>
    /// The exceptions before the batch.
    private let before: RecordExceptions
    /// The items before the batch. None after planning.
    private var contents: OrderedItems<Item>
    /// The items that the batch has written so far.
    private var written: Set<CacheKey> = []
    /// The items that the batch has removed so far.
    private var removed: Set<CacheKey> = []
    private var isCleared = false

    init(_ storage: RecordStorage<Item>, _ exceptions: RecordExceptions, _ contents: OrderedItems<Item>) {
        (self.storage, self.exceptions, before, self.contents) = (storage, exceptions, exceptions, contents)
    }

    /// Plans the changes of operations.
    ///
    /// - Parameters:
    ///   - operations: The changes of each operation, or the error of its preparation. An operation that would lose a
    ///     record fails.
    ///   - records: The changes of the engine's records in a store without exceptions, which the method replaces.
    ///   - stopsAtFailure: Whether planning ends with the first failed operation.
    mutating func plan(
        _ operations: inout [Result<[StoreChange<Item>], any Error>], _ records: inout [StorageOperation],
        stopsAtFailure: Bool
    ) async {
        defer {
            records = self.records
            // A second reference would make the next change copy all items.
            contents = OrderedItems()
        }
        var regular = records[...]
        for (index, operation) in operations.enumerated() {
            guard case .success(let changes) = operation else { continue }
            let count = changes.reduce(0) { $0 + ($1.keys?.count ?? 1) }
            let planned = self
            do {
                try await plan(changes, regular.prefix(count))
            } catch {
                self = planned
                operations[index] = .failure(error)
                if stopsAtFailure { return operations.removeSubrange((index + 1)...) }
            }
            regular = regular.dropFirst(count)
        }
    }

    private mutating func plan(_ changes: [StoreChange<Item>], _ regular: ArraySlice<StorageOperation>) async throws {
        var regular = regular
        for change in changes {
            switch change {
            case .insert(let keys, _): for key in keys { try await write(key, regular.removeFirst()) }
            case .remove(let keys):
                try await remove(keys)
                regular = regular.dropFirst(keys.count)
            case .removeAll:
                try await removeAll()
                regular = regular.dropFirst()
            }
        }
    }

    /// Prepares to write an item under its key.
    private mutating func write(_ key: CacheKey, _ write: StorageOperation) async throws {
        let old = try await takeDisplacedRecord(of: key)
        if let old, old.isSameUUID(as: key), case .write(_, let data) = write {
            // A server that spells a UUID in lower case knows no other spelling, or takes both for the same item.
            exceptions.displace(key, to: old)
            records.append(.write(key: old, data: data))
            return
        }
        try await moveDisplacedItems(at: key)
        try await preserveReportedRecord(replacedBy: key)
        records.append(write)
        // An engine without atomic batches may refuse the write, so the old record is removed afterwards, unless an
        // item that was displaced in turn has taken its place.
        if let old, !written.contains(old) { records.append(.remove(key: old)) }
        written.insert(key)
    }

    /// Moves displaced items whose records are under a key to their own keys.
    private mutating func moveDisplacedItems(at key: CacheKey) async throws {
        // A file of the first Bodega is also found under the key that gave it its name.
        for record in exceptions.hasDisplacedItems ? [key, key.asFileName] : [] {
            guard let other = exceptions.displacedItem(at: record) else { continue }
            guard let data = try await storage.engine.fetch(key: record), holds(other, data, record) else {
                _ = exceptions.removeDisplacement(of: other)
                continue
            }
            originals[record] = data
            try await write(other, .write(key: other, data: data))
        }
    }

    /// Copies a reported record that a write will replace to another key, and removes the original.
    ///
    /// The method reads the record again. If another program has written an item with this key there in the meantime,
    /// the write replaces that item, and there is no copy: it would become the item again after this one is removed.
    ///
    /// - Throws: The record's error if the engine can't read it, for example because it can't be decrypted. A copy
    ///   would be another record, which could never be read.
    private mutating func preserveReportedRecord(replacedBy key: CacheKey) async throws {
        guard let old = exceptions.reportedRecord(replacedBy: key) else { return }
        let wasDuplicate = exceptions.isDuplicate(old, of: key)
        exceptions.withdrawReport(of: old)
        let (found, unreadable) = try await storage.fetch([old])
        if let error = unreadable.first {
            throw StorageError(
                error.code,
                """
                The item was not written, because a record under its key can't be read and would be lost. Repair the \
                record, or remove it with removeUndecodable(_:).
                """,
                key: old, cause: error)
        }
        guard let data = found.first?.data else { return }
        originals[old] = data
        let copyKey = CacheKey("\(old.rawValue) (kept aside, \(UUID().uuidString))")
        switch storage.coding.itemKey(in: data, under: old) {
        case .success(key) where !wasDuplicate: break
        case .success(let item):
            records.append(.write(key: copyKey, data: data))
            // Another program has written this item there since the store read the record.
            if item != key, !isShown(item) { leavesItemUnshown = true }
            exceptions.reportDuplicate(copyKey, of: item)
        case .failure(var error):
            records.append(.write(key: copyKey, data: data))
            error.key = copyKey
            exceptions.report(error)
        }
        // An item that overwrites a record would take its place in the order. The store shows the new item last.
        records.append(.remove(key: old))
    }

    /// Prepares to remove items with all records that hold them. A record under their keys that is not an item stays.
    private mutating func remove(_ keys: [CacheKey]) async throws {
        let unshown = try await unshownRecords(ofItems: keys)
        for key in keys { try await remove(key, unshown) }
    }

    private mutating func remove(_ key: CacheKey, _ unshown: [CacheKey: Data]) async throws {
        if let old = try await takeDisplacedRecord(of: key) { records.append(.remove(key: old)) }
        if written.remove(key) != nil || isUnderOwnKey(key) {
            records.append(.remove(key: key))
        } else if !removed.contains(key) {
            let file = key.asFileName
            for record in [key, file] {
                guard let data = unshown[record] else { continue }
                records.append(.remove(key: record))
                exceptions.withdrawReport(of: record)
                // If the record is found under both keys, only the file is restored after a failure.
                if record == file || data != unshown[file] { originals[record] = data }
            }
        }
        removed.insert(key)
        try await removeDuplicates(exceptions.withdrawDuplicates(of: key))
    }

    /// Reads the records of items that other programs have written and the store does not show yet.
    ///
    /// The result includes files of the first Bodega, which are also found under the keys that gave them their names.
    private func unshownRecords(ofItems keys: [CacheKey]) async throws -> [CacheKey: Data] {
        if isCleared { return [:] }
        var items: [CacheKey: CacheKey] = [:]
        for key in keys where !written.contains(key) && !removed.contains(key) && !isUnderOwnKey(key) {
            items[key] = key
            let file = key.asFileName
            if exceptions.recordKey(of: key) == file || exceptions.isReported(file) { items[file] = key }
        }
        if items.isEmpty { return [:] }
        let found = try await storage.fetch(Array(items.keys)).records.filter { record, data in
            items[record].map { holds($0, data, record) } == true
        }
        return Dictionary(found.map { ($0.key, $0.data) }) { first, _ in first }
    }

    /// Prepares to remove all items with all their records. Undecodable records stay, because their content is unknown.
    private mutating func removeAll() async throws {
        try await removeDuplicates(exceptions.withdrawAllDuplicates())
        if exceptions.hasReports {
            var removed = written
            for key in contents.keysInOrder {
                if isUnderOwnKey(key) { removed.insert(key) }
                if exceptions.recordKey(of: key) != key { removed.insert(exceptions.recordKey(of: key)) }
            }
            records += removed.map { .remove(key: $0) }
        } else {
            records.append(.removeAll)
        }
        exceptions.removeAllDisplacements()
        written = []
        isCleared = true
    }

    /// - Parameter items: The keys of the records, each with the key of its item.
    private mutating func removeDuplicates(_ items: [CacheKey: CacheKey]) async throws {
        if items.isEmpty { return }
        var duplicates = Set(items.keys)
        let (found, unreadable) = try await storage.fetch(Array(duplicates))
        for error in unreadable {
            exceptions.report(error)
            if let record = error.key { duplicates.remove(record) }
        }
        for (record, data) in found {
            switch storage.coding.itemKey(in: data, under: record) {
            case .success(let item) where item == items[record]:
                originals[record] = data
                continue
            // Another program has written another record there.
            case .success: break
            case .failure(let error): exceptions.report(error)
            }
            duplicates.remove(record)
        }
        // This includes records that don't exist yet, because this batch moves them.
        records += duplicates.map { .remove(key: $0) }
    }

    /// Records that an item is no longer displaced: it is written under its own key, or removed.
    ///
    /// - Returns: The key of the record that the item had; `nil` if another program wrote another record there.
    private mutating func takeDisplacedRecord(of key: CacheKey) async throws -> CacheKey? {
        guard let record = exceptions.removeDisplacement(of: key) else { return nil }
        guard let data = try await storage.fetch([record]).records.first?.data, holds(key, data, record) else {
            return nil
        }
        return record
    }

    private func holds(_ key: CacheKey, _ data: Data, _ record: CacheKey) -> Bool {
        if case .success(key) = storage.coding.itemKey(in: data, under: record) { true } else { false }
    }

    /// Returns whether the store shows an item after the prepared operations.
    private func isShown(_ key: CacheKey) -> Bool {
        written.contains(key) || !isCleared && !removed.contains(key) && contents.contains(key)
    }

    /// Returns whether an item was under its own key before the batch, which has not removed it.
    private func isUnderOwnKey(_ key: CacheKey) -> Bool {
        !isCleared && !removed.contains(key) && contents.contains(key) && before.recordKey(of: key) == key
    }
}
