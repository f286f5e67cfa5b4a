import Foundation

/// Items that are related to objects, in groups, see ``Relation``.
///
/// What is known about items is kept apart from the objects: code that handles generic objects one by one looks up
/// their types each time, which takes as long as decoding them.
///
/// @unchecked because the items' type need not be `Sendable`: they are read, and then used by the caller.
package struct RelatedItems<Target>: @unchecked Sendable {
    private var entries: [RelatedEntry] = []
    /// The objects of the entries.
    private var objects: [Target] = []
    private var groups = RelatedGroups()
    /// The errors of records that were left out, at most 1,000 of the decoder.
    package var undecodable: [StorageError] = []
    /// Whether a copy of the items has answered, which may have other places for them.
    package var isCopy = false

    package init() {}

    /// The objects of some groups, in the order of the groups.
    package func objects(of keys: [CacheKey]) -> [Target] {
        groups.places(of: keys).map { objects[$0] }
    }

    /// Hashes the items of some groups, so that a change of any of them, or of their order, gives another value.
    package func hash(into hasher: inout Hasher, of keys: [CacheKey]) {
        for place in groups.places(of: keys) {
            hasher.combine(entries[place].key)
            hasher.combine(entries[place].version)
        }
    }

    /// Adds an item, unless it belongs to no group.
    mutating func add(_ object: Target, _ entry: RelatedEntry) {
        if entry.groups.isEmpty { return }
        groups.add(entry, at: entries.count, among: entries)
        entries.append(entry)
        objects.append(object)
    }

    /// Adds items of some groups. None of them is in one of these groups here.
    package mutating func add(_ others: RelatedItems, among wanted: Set<CacheKey>) {
        for (place, other) in others.entries.enumerated() {
            var entry = other
            entry.groups = other.groups.filter(wanted.contains)
            add(others.objects[place], entry)
        }
        sort()
    }

    /// Removes items.
    package mutating func remove(_ keys: Set<CacheKey>) {
        if !entries.contains(where: { keys.contains($0.key) }) { return }
        rebuild { if keys.contains($0.key) { $0.groups = [] } }
    }

    /// Forgets groups, and the items that belong to no other.
    package mutating func forget(_ keys: Set<CacheKey>) {
        rebuild { $0.groups.removeAll(where: keys.contains) }
    }

    /// Changes the groups of all entries. Those without any are dropped.
    private mutating func rebuild(_ change: (inout RelatedEntry) -> Void) {
        let (oldEntries, oldObjects) = (entries, objects)
        (entries, objects, groups) = ([], [], RelatedGroups())
        for (place, old) in oldEntries.enumerated() {
            var entry = old
            change(&entry)
            add(oldObjects[place], entry)
        }
        sort()
    }

    /// Sorts the items of each group by their places.
    mutating func sort() { groups.sort(entries) }
}

/// What is known about a related item.
struct RelatedEntry: Sendable {
    let key: CacheKey
    /// The place in insertion order.
    let position: Int
    /// Differs between two versions of an item.
    let version: Int
    /// The keys of the groups to which the item belongs.
    var groups: [CacheKey]

    init(_ item: StorageItem, groups: [CacheKey]) {
        (key, position, self.groups) = (item.key, item.position, groups)
        var hasher = Hasher()
        item.data.withUnsafeBytes { hasher.combine(bytes: $0) }
        version = hasher.finalize()
    }
}

/// The places of entries by their groups.
private struct RelatedGroups: Sendable {
    private var places: [CacheKey: [Int]] = [:]
    private var areSorted = true

    func places(of keys: [CacheKey]) -> [Int] {
        if keys.count == 1 { return places[keys[0]] ?? [] }
        return keys.flatMap { places[$0] ?? [] }
    }

    mutating func add(_ entry: RelatedEntry, at place: Int, among entries: [RelatedEntry]) {
        for group in entry.groups {
            let last = Self.append(place, to: &places[group, default: []])
            if let last, entries[last].position >= entry.position { areSorted = false }
        }
    }

    /// Appends a place with one look-up of the group.
    ///
    /// - Returns: The last place before it.
    private static func append(_ place: Int, to places: inout [Int]) -> Int? {
        defer { places.append(place) }
        return places.last
    }

    mutating func sort(_ entries: [RelatedEntry]) {
        if areSorted { return }
        for group in places.keys {
            places[group]?.sort { entries[$0].position < entries[$1].position }
            // In SQLite, two scans can find one item.
            var last: CacheKey?
            places[group]?.removeAll { place in
                defer { last = entries[place].key }
                return entries[place].key == last
            }
        }
        areSorted = true
    }
}
