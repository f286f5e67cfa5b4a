import Bodega
import Foundation

/// The records of a collection as its observers know them, which are needed to report the records that others remove.
///
/// They belong to no table: after a collection was removed and created again, the difference between them and the new
/// records is what observers do not know yet.
struct KnownRecords: Sendable {

    /// The records, `nil` before they were read.
    private var records: [CacheKey: Data]?
    /// What this process has reported before the records were read, `nil` for a removed record.
    private var reported: [CacheKey: Data?] = [:]

    /// Notes an own operation, which its caller reports.
    mutating func note(_ operation: StorageOperation) {
        switch operation {
        case .write(let key, let data): set(data, key)
        case .remove(let key): set(nil, key)
        case .removeAll: (records, reported) = (records.map { _ in [:] }, [:])
        }
    }

    private mutating func set(_ data: Data?, _ key: CacheKey) {
        if records == nil { reported[key] = .some(data) } else { records?[key] = data }
    }

    /// Adopts changes.
    ///
    /// - Parameters:
    ///   - changes: The changes, in their order; `nil` if they are unknown.
    ///   - items: The stored records under their keys. Without changes, all records.
    /// - Returns: The effects on the records that were known.
    mutating func apply(
        _ changes: ArraySlice<StorageChange>?, _ items: [(key: CacheKey, data: Data)]
    ) -> [RecordEffect] {
        let stored = Dictionary(items.lazy.map { ($0.key, $0.data) }) { first, _ in first }
        guard let changes else {
            defer { (records, reported) = (stored, [:]) }
            // Observers are not notified of the records that existed when the observation began.
            if records == nil, reported.isEmpty { return [] }
            var known = records ?? stored
            for (key, data) in reported { known[key] = data }
            let removed = known.filter { stored[$0.key] == nil }.map { RecordEffect.removed($0.key, $0.value) }
            return removed + items.filter { known[$0.key] != $0.data }.map { .written($0.key, $0.data) }
        }
        // Of each key, the last change counts: it has led to the stored record. A removal before it counts, too: the
        // record has moved to the end.
        var (last, removal): ([CacheKey: Int], [CacheKey: Int]) = ([:], [:])
        for (number, change) in zip(changes.indices, changes) {
            last[change.key] = number
            if change.kind == .removed { removal[change.key] = removal[change.key] ?? number }
        }
        return zip(changes.indices, changes).compactMap { number, change in
            let key = change.key
            guard number == last[key] || number == removal[key] else { return nil }
            let before = records?[key]
            guard number == last[key], let data = stored[key] else {
                records?[key] = nil
                return before.map { .removed(key, $0) }
            }
            records?[key] = data
            return .written(key, data)
        }
    }
}
