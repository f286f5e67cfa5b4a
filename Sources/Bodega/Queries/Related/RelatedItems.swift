import Foundation

/// Items that are related to objects, in groups, see ``Relation``.
///
/// @unchecked because the items' type need not be `Sendable`: they are read, and then used by the caller.
package struct RelatedItems<Target>: @unchecked Sendable {
    /// An item with its place.
    package struct Item {
        package let key: CacheKey
        package let object: Target
        /// Differs between two versions of an item.
        package let version: Int
        /// The place in insertion order.
        fileprivate let position: Int
        fileprivate var groups: [CacheKey]
    }

    /// What was decoded from a record.
    enum Decoded {
        case item(Target, groups: [CacheKey])
        case failure(StorageError)
    }

    private var items: [CacheKey: Item] = [:]
    private var keysOfGroups: [CacheKey: [CacheKey]] = [:]
    private var areSorted = true
    /// The errors of records that were left out, at most 1,000 of the decoder.
    package var undecodable: [StorageError] = []
    /// Whether a copy of the items has answered, which may have other places for them.
    package var isCopy = false

    package init() {}

    /// The items of some groups, in the order of the groups.
    package func items(of groups: [CacheKey]) -> [Item] {
        groups.flatMap { (keysOfGroups[$0] ?? []).compactMap { items[$0] } }
    }

    /// The objects of some groups, in the order of the groups.
    func objects(of groups: [CacheKey]) -> [Target] { items(of: groups).map(\.object) }

    // MARK: Changing

    /// Adds what was decoded from a record, unless the item belongs to no group.
    ///
    /// - Parameter wanted: The groups that are wanted, `nil` for all.
    mutating func add(_ decoded: Decoded, _ entry: StorageItem, among wanted: Set<CacheKey>? = nil) {
        switch decoded {
        case .failure(let error):
            if undecodable.count < 1_000 { undecodable.append(error) }
        case .item(let object, let groups):
            var known: Set<CacheKey> = []
            let own = groups.filter { wanted?.contains($0) != false && known.insert($0).inserted }
            if own.isEmpty { return }
            var hasher = Hasher()
            entry.data.withUnsafeBytes { hasher.combine(bytes: $0) }
            add(
                Item(
                    key: entry.key, object: object, version: hasher.finalize(), position: entry.position, groups: own))
        }
    }

    private mutating func add(_ item: Item) {
        // In SQLite, two scans can find one item. One of a kept group can belong to a new one, too.
        let known = items[item.key]?.groups ?? []
        let new = item.groups.filter { !known.contains($0) }
        var item = item
        item.groups = known + new
        items[item.key] = item
        for group in new {
            if let last = keysOfGroups[group]?.last, let place = items[last]?.position, place > item.position {
                areSorted = false
            }
            keysOfGroups[group, default: []].append(item.key)
        }
    }

    /// Adds items of some groups. None of them is among these.
    package mutating func add(_ others: RelatedItems, among wanted: Set<CacheKey>) {
        for item in others.items.values {
            let own = item.groups.filter(wanted.contains)
            if own.isEmpty { continue }
            add(
                Item(
                    key: item.key, object: item.object, version: item.version, position: item.position, groups: own))
        }
        sort()
    }

    /// Removes items.
    package mutating func remove(_ keys: some Sequence<CacheKey>) {
        var removed: Set<CacheKey> = []
        var changed: Set<CacheKey> = []
        for key in keys {
            guard let item = items.removeValue(forKey: key) else { continue }
            removed.insert(key)
            changed.formUnion(item.groups)
        }
        for group in changed {
            keysOfGroups[group]?.removeAll(where: removed.contains)
            if keysOfGroups[group]?.isEmpty == true { keysOfGroups[group] = nil }
        }
    }

    /// Forgets groups, and the items that belong to no other.
    package mutating func forget(_ groups: Set<CacheKey>) {
        for group in groups {
            for key in keysOfGroups.removeValue(forKey: group) ?? [] {
                items[key]?.groups.removeAll { $0 == group }
                if items[key]?.groups.isEmpty == true { items[key] = nil }
            }
        }
    }

    /// Sorts the items of each group by their places.
    mutating func sort() {
        if areSorted { return }
        for group in keysOfGroups.keys {
            keysOfGroups[group]?.sort { (items[$0]?.position ?? 0) < (items[$1]?.position ?? 0) }
        }
        areSorted = true
    }
}
