/// The items of a store by the values of a property, in insertion order.
///
/// It knows items by their ranks, see ``OrderedItems``, so a change costs the same at any number of items.
///
/// @unchecked because the values are immutable, and the property's key path is `Sendable`.
struct ItemLookup<Item>: @unchecked Sendable {
    /// What distinguishes a lookup from others.
    struct ID: Hashable, @unchecked Sendable {
        fileprivate let keyPath: AnyKeyPath
        fileprivate let isOfElements: Bool
    }

    /// A property, with the values by which an item is found.
    struct Property: @unchecked Sendable {
        let id: ID
        fileprivate let values: (Item) -> [AnyHashable]

        /// The value of a property.
        init<Value: Hashable>(_ keyPath: any KeyPath<Item, Value> & Sendable) {
            id = ID(keyPath: keyPath, isOfElements: false)
            values = { item in
                let value = item[keyPath: keyPath]
                // NaN is not equal to itself, so no item is found by it.
                return value == value ? [AnyHashable(value)] : []
            }
        }

        /// The elements of a property.
        init<Element: Hashable>(elementsOf keyPath: any KeyPath<Item, [Element]> & Sendable) {
            id = ID(keyPath: keyPath, isOfElements: true)
            values = { item in item[keyPath: keyPath].filter { $0 == $0 }.map { AnyHashable($0) } }
        }
    }

    /// The items with one value.
    private struct Group {
        var ranks: Set<Int> = []
        /// The ranks in ascending order; `nil` if they have to be sorted again.
        var sorted: [Int]? = []

        mutating func add(_ rank: Int) {
            guard ranks.insert(rank).inserted else { return }
            if sorted?.last.map({ $0 < rank }) ?? true { sorted?.append(rank) } else { sorted = nil }
        }

        mutating func remove(_ rank: Int) {
            guard ranks.remove(rank) != nil else { return }
            if sorted?.last == rank { sorted?.removeLast() } else { sorted = nil }
        }
    }

    private let property: Property
    private var groups: [AnyHashable: Group] = [:]

    /// Creates a lookup of items with ascending ranks.
    init(_ property: Property, _ items: [Item], ranks: [Int]) {
        self.property = property
        for (item, rank) in zip(items, ranks) { add(item, rank) }
    }

    /// The ranks of the items with a value, ascending.
    mutating func ranks(of value: AnyHashable) -> [Int] {
        guard let group = groups[value] else { return [] }
        if let sorted = group.sorted { return sorted }
        let sorted = group.ranks.sorted()
        groups[value]?.sorted = sorted
        return sorted
    }

    /// Adds an item.
    mutating func add(_ item: Item, _ rank: Int) {
        for value in property.values(item) { groups[value, default: Group()].add(rank) }
    }

    /// Replaces an item by another one in its place.
    mutating func replace(_ old: Item, by new: Item, _ rank: Int) {
        let (before, after) = (property.values(old), property.values(new))
        if before == after { return }
        remove(before, rank)
        for value in after { groups[value, default: Group()].add(rank) }
    }

    /// Removes an item.
    mutating func remove(_ item: Item, _ rank: Int) { remove(property.values(item), rank) }

    private mutating func remove(_ values: [AnyHashable], _ rank: Int) {
        for value in values {
            groups[value]?.remove(rank)
            if groups[value]?.ranks.isEmpty == true { groups[value] = nil }
        }
    }
}
