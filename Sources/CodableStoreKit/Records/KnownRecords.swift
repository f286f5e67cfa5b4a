import Bodega
import Foundation

/// The records of a collection as its observers know them, which are needed to report the records that others remove.
///
/// They belong to no table: after a collection was removed and created again, the difference between them and the new
/// records is what observers do not know yet.
struct KnownRecords: Sendable {

    /// The records, `nil` before they were read.
    private var records: [CacheKey: Data]?
    /// The records that were reported before all were read, `nil` for removed ones.
    private var reported: [CacheKey: Data?] = [:]

    /// Whether the records were read.
    var areRead: Bool { records != nil }

    /// Whether it is known that there are no records.
    var areNone: Bool { records?.isEmpty ?? false }

    /// Whether records were reported before all were read.
    var haveReports: Bool { !reported.isEmpty }

    /// Adopts all records.
    ///
    /// - Parameters:
    ///   - items: The records.
    ///   - changed: The keys of records that may have changes that were not reported yet.
    mutating func read(_ items: [(key: CacheKey, data: Data)], changed: Set<CacheKey>) {
        var records: [CacheKey: Data] = [:]
        records.reserveCapacity(items.count)
        for (key, data) in items where !changed.contains(key) { records[key] = data }
        for (key, data) in reported { records[key] = data }
        self.records = records
        reported = [:]
    }

    /// Notes an operation that another path reports.
    mutating func note(_ operation: StorageOperation) {
        switch operation {
        case .write(let key, let data): set(data, key)
        case .remove(let key): set(nil, key)
        case .removeAll:
            records = [:]
            reported = [:]
        }
    }

    /// Notes an effect that another path reports.
    mutating func note(_ effect: SQLiteEffect) {
        switch effect {
        case .written(let key, let data): set(data, key)
        case .removed(let key, _): set(nil, key)
        }
    }

    private mutating func set(_ data: Data?, _ key: CacheKey) {
        if records == nil { reported[key] = .some(data) } else { records?[key] = data }
    }

    /// Adopts the changes in the log.
    ///
    /// - Returns: The effects that were not reported yet.
    mutating func apply(_ update: SQLiteCollectionUpdate) -> [SQLiteEffect] {
        let stored = Dictionary(update.items.map { ($0.key, $0.data) }) { first, _ in first }
        guard let changes = update.changes else {
            // Of records that were not read, and are gone, nothing is known.
            let known = records ?? reported.compactMapValues { $0 }
            (records, reported) = (stored, [:])
            let removed = known.filter { stored[$0.key] == nil }.map { SQLiteEffect.removed($0.key, $0.value) }
            return removed + update.items.filter { known[$0.key] != $0.data }.map { .written($0.key, $0.data) }
        }
        // Only the last change of each key counts: it has led to the stored record.
        var last: [CacheKey: Int] = [:]
        for (number, change) in changes.enumerated() { last[change.key] = number }
        var effects: [SQLiteEffect] = []
        for (number, change) in changes.enumerated() where last[change.key] == number {
            let before = records?[change.key]
            records?[change.key] = stored[change.key]
            switch (before, stored[change.key]) {
            case (_, let data?):
                // Others may have written the same data again.
                if data != before || !change.isReported { effects.append(.written(change.key, data)) }
            case (let data?, nil): effects.append(.removed(change.key, data))
            case (nil, nil): break
            }
        }
        return effects
    }
}
