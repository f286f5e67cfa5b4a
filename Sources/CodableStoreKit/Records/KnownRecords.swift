import Bodega
import Foundation

/// The records of a collection as those who observe it have been told, so that it can be told what others have removed.
struct KnownRecords: Sendable {

    /// The records, `nil` before they were read.
    private var records: [CacheKey: Data]?
    /// What was told before they were read, `nil` for what was removed.
    private var told: [CacheKey: Data?] = [:]

    /// Whether they were read.
    var areRead: Bool { records != nil }

    /// Takes over all records.
    ///
    /// - Parameters:
    ///   - items: The records.
    ///   - changed: Those that may have changed in a way that is still to be told.
    mutating func read(_ items: [(key: CacheKey, data: Data)], changed: Set<CacheKey>) {
        var records: [CacheKey: Data] = [:]
        records.reserveCapacity(items.count)
        for (key, data) in items where !changed.contains(key) { records[key] = data }
        for (key, data) in told { records[key] = data }
        self.records = records
        told = [:]
    }

    /// Notes what is told anyway.
    mutating func note(_ operation: StorageOperation) {
        switch operation {
        case .write(let key, let data): set(data, key)
        case .remove(let key): set(nil, key)
        case .removeAll:
            records = [:]
            told = [:]
        }
    }

    /// Notes what is told anyway.
    mutating func note(_ effect: SQLiteEffect) {
        switch effect {
        case .written(let key, let data): set(data, key)
        case .removed(let key, _): set(nil, key)
        }
    }

    private mutating func set(_ data: Data?, _ key: CacheKey) {
        if records == nil { told[key] = .some(data) } else { records?[key] = data }
    }

    /// Takes over what has changed.
    ///
    /// - Returns: What is still to be told.
    mutating func apply(_ news: SQLiteCollectionUpdate) -> [SQLiteEffect] {
        let stored = Dictionary(news.items.map { ($0.key, $0.data) }) { first, _ in first }
        guard let changes = news.changes else {
            let known = records ?? [:]
            records = stored
            let removed = known.filter { stored[$0.key] == nil }.map { SQLiteEffect.removed($0.key, $0.value) }
            return removed + news.items.filter { known[$0.key] != $0.data }.map { .written($0.key, $0.data) }
        }
        // Only the last change of each counts: it has led to what is stored.
        var last: [CacheKey: Int] = [:]
        for (number, change) in changes.enumerated() { last[change.key] = number }
        var effects: [SQLiteEffect] = []
        for (number, change) in changes.enumerated() where last[change.key] == number {
            let before = records?[change.key]
            records?[change.key] = stored[change.key]
            switch (before, stored[change.key]) {
            case (_, let data?):
                // Those of this process are told when they are committed; others may have written the same once more.
                if data != before || change.origin == nil { effects.append(.written(change.key, data)) }
            case (let data?, nil): effects.append(.removed(change.key, data))
            case (nil, nil): break
            }
        }
        return effects
    }
}
