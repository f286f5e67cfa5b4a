/// An index of items in memory. It is a value, and a copy takes constant time.
struct MemoryIndex: Sendable {
    let index: StorageIndex
    private let keys: Keys
    private(set) var rows: MemoryRows
    /// The irregular items, without keys, in insertion order.
    private(set) var irregular: MemoryRows

    /// Creates an index of items.
    init(_ index: StorageIndex, of items: some Sequence<MemoryCore.Entry>) {
        self.index = index
        keys = Keys(index)
        (rows, irregular) = (MemoryRows(), MemoryRows())
        var (known, unknown): ([MemoryRows.Row], [MemoryRows.Row]) = ([], [])
        for item in items {
            switch keys.entry(of: item.data) {
            case .keys(let keys): known.append(MemoryRows.Row(keys, item))
            case .irregular: unknown.append(MemoryRows.Row(irregular: item))
            case .leftOut: break
            }
        }
        (rows, irregular) = (MemoryRows(known), MemoryRows(unknown))
    }

    /// Replaces an item.
    ///
    /// - Parameters:
    ///   - old: The item as it was, `nil` if it was absent.
    ///   - new: The item as it is, `nil` if it is gone.
    mutating func replace(_ old: MemoryCore.Entry?, with new: MemoryCore.Entry?) {
        let oldEntry = old.map { keys.entry(of: $0.data) }
        let newEntry = new.map { keys.entry(of: $0.data) }
        if let old, let new, oldEntry == newEntry, old.position == new.position { return }
        if let old {
            switch oldEntry {
            case .keys(let keys): rows.remove(MemoryRows.Row(keys, old))
            case .irregular: irregular.remove(.init(irregular: old))
            case .leftOut, nil: break
            }
        }
        if let new {
            switch newEntry {
            case .keys(let keys): rows.insert(MemoryRows.Row(keys, new))
            case .irregular: irregular.insert(.init(irregular: new))
            case .leftOut, nil: break
            }
        }
    }

    mutating func removeAll() { (rows, irregular) = (MemoryRows(), MemoryRows()) }
}

extension MemoryRows.Row {
    fileprivate init(_ keys: [StorageSortKey], _ item: MemoryCore.Entry) {
        self.init(
            first: keys[0], others: keys.count > 1 ? Array(keys.dropFirst()) : [], position: item.position,
            key: item.key)
    }

    fileprivate init(irregular item: MemoryCore.Entry) {
        self.init(first: .none, others: [], position: item.position, key: item.key)
    }
}
