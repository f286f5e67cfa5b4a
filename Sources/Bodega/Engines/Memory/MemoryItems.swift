import Foundation

/// The items of a ``MemoryStorageEngine`` and, once a follower has requested it, the log of their changes.
struct MemoryItems: Sendable {
    private(set) var core = MemoryCore()
    private(set) var history: MemoryHistory?
    private var indexes: [MemoryIndex] = []

    /// A copy for reading, without the log. A change of the log would copy all of it while the copy exists.
    var withoutHistory: MemoryItems {
        var copy = self
        copy.history = nil
        return copy
    }

    /// Returns the log, which starts with the first call.
    mutating func startedHistory() -> MemoryHistory {
        let history = history ?? MemoryHistory()
        self.history = history
        return history
    }

    /// Whether a batch may be applied.
    func allows(_ batch: StorageBatch) -> Bool {
        if let basis = batch.basis, history?.cursor != basis { return false }
        return batch.conditions?.allSatisfy { core[$0.key]?.data == $0.data } ?? true
    }

    /// Applies a batch.
    ///
    /// - Returns: Its place in the log, if that has started.
    mutating func apply(_ batch: StorageBatch, at date: Date, by origin: StorageOrigin) -> StorageCommit? {
        let before = history?.cursor
        apply(batch.operations, dates: batch.dates, at: date, by: origin)
        return before.flatMap { before in history.map { StorageCommit(before: before, after: $0.cursor) } }
    }

    /// The identifiers of the items that operations may remove.
    ///
    /// - Parameter identify: Returns the identifiers of an item.
    func identifiers(
        _ operations: [StorageOperation], _ identify: (Data) -> [ReferenceIdentifier?]
    ) -> [CacheKey: [ReferenceIdentifier?]] {
        var identifiers: [CacheKey: [ReferenceIdentifier?]] = [:]
        for operation in operations {
            switch operation {
            case .write: break
            case .remove(let key): identifiers[key] = core[key].map { identify($0.data) }
            case .removeAll: for entry in core.entries { identifiers[entry.key] = identify(entry.data) }
            }
        }
        return identifiers
    }

    /// Applies operations in order.
    mutating func apply(
        _ operations: some Sequence<StorageOperation>, dates: [CacheKey: StorageDates], at date: Date,
        by origin: StorageOrigin
    ) {
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                let old = indexes.isEmpty ? nil : core[key]
                core.write(data, key: key, at: date, dates: dates.isEmpty ? nil : dates[key])
                for number in indexes.indices { indexes[number].replace(old, with: core[key]) }
                history?.append(StorageChange(key: key, kind: .written, origin: origin))
            case .remove(let key):
                guard let old = core[key] else { continue }
                core.remove(key)
                for number in indexes.indices { indexes[number].replace(old, with: nil) }
                history?.append(StorageChange(key: key, kind: .removed, origin: origin))
            case .removeAll:
                if history != nil {
                    for entry in core.entries {
                        history?.append(StorageChange(key: entry.key, kind: .removed, origin: origin))
                    }
                }
                core.removeAll()
                for number in indexes.indices { indexes[number].removeAll() }
            }
        }
    }

    // MARK: Indexes

    /// The existing indexes.
    var existingIndexes: Set<StorageIndex> { Set(indexes.map(\.index)) }

    /// Creates an index, unless it exists.
    mutating func createIndex(_ index: StorageIndex) {
        if !existingIndexes.contains(index) { indexes.append(MemoryIndex(index, of: core.entries)) }
    }

    /// Removes an index, if it exists.
    mutating func removeIndex(_ index: StorageIndex) { indexes.removeAll { $0.index == index } }

    /// An index; if it does not exist, a temporary one, because a reader may have chosen it right before its removal.
    func index(_ index: StorageIndex) -> MemoryIndex {
        indexes.first { $0.index == index } ?? MemoryIndex(index, of: core.entries)
    }
}
