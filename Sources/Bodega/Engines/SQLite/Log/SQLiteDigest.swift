import Foundation

/// The keys of a collection's items at one moment, in insertion order, with a hash of each item's data.
///
/// From it and the items at a later moment follows the net effect of the changes in between, including the order.
struct SQLiteDigest: Sendable {
    private let keys: [CacheKey]
    private let entries: [CacheKey: Entry]

    private struct Entry: Sendable {
        /// The item's place in the order.
        let place: Int
        let hash: Int
    }

    /// - Parameter items: The items, in insertion order.
    init(of items: [(key: CacheKey, data: Data)]) {
        keys = items.map(\.key)
        var entries: [CacheKey: Entry] = [:]
        entries.reserveCapacity(items.count)
        for (place, item) in items.enumerated() { entries[item.key] = Entry(place: place, hash: Self.hash(item.data)) }
        self.entries = entries
    }

    /// The net effect that leads from the items of the digest to others: removals, then writes. An item that has moved
    /// was removed and written again. The changes have no origin.
    ///
    /// - Parameter items: The later items, in insertion order.
    func changes(to items: [(key: CacheKey, data: Data)]) -> [StorageChange] {
        // Items that were neither removed nor added come first, in their earlier order.
        var last = -1
        let kept = items.prefix { item in
            guard let place = entries[item.key]?.place, place > last else { return false }
            last = place
            return true
        }
        let keptKeys = Set(kept.map(\.key))
        let removed = keys.filter { !keptKeys.contains($0) }
        let overwritten = kept.filter { Self.hash($0.data) != entries[$0.key]?.hash }
        return removed.map { StorageChange(key: $0, kind: .removed) }
            + (overwritten + items[kept.endIndex...]).map { StorageChange(key: $0.key, kind: .written) }
    }

    private static func hash(_ data: Data) -> Int {
        var hasher = Hasher()
        data.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
