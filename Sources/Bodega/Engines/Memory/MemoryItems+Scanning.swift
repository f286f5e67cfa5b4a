extension MemoryItems {

    /// An item of a scan.
    struct Found {
        let entry: MemoryCore.Entry
        /// The sort key in the index, `nil` if there is none.
        var sortKey: StorageSortKey?
        /// Those of all members of a compound index.
        var sortKeys: [StorageSortKey] = []
    }

    /// The items of a scan, which are read one after the other.
    func items(of scan: StorageScan) throws -> AnySequence<Found> {
        guard let index = scan.index else {
            return AnySequence(core.entries(after: scan.position).lazy.map { Found(entry: $0) })
        }
        let part = try self.index(index).part(scan)
        return AnySequence(
            part.lazy.compactMap { [core] row in
                core[row.key].map { entry in
                    guard let member = part.member else { return Found(entry: entry) }
                    return Found(entry: entry, sortKey: row.sortKey(member), sortKeys: row.sortKeys)
                }
            })
    }

    /// The number of items of a scan. None of them is read.
    func count(_ scan: StorageScan) throws -> Int {
        if let index = scan.index { return try self.index(index).part(scan).count }
        return scan.position == .min ? core.count : core.entries(after: scan.position).count { _ in true }
    }

    /// The sort keys of an item in an index, one for each member; `nil` if the index knows nothing about the item.
    func sortKeys(of entry: MemoryCore.Entry, in index: StorageIndex) -> [StorageSortKey]? {
        MemoryIndex.Keys(index).sortKeys(of: entry.data)
    }
}

extension StorageScan {
    /// The index, `nil` if the scan is of all items.
    fileprivate var index: StorageIndex? {
        switch self {
        case .all: nil
        case .search(let search): search.index
        case .irregular(let index), .range(let index, _, _, _, _, _), .approximate(let index, _, _, _): index
        }
    }

    /// The position after which a scan of all items begins.
    fileprivate var position: Int {
        if case .all(let position) = self { position ?? .min } else { .min }
    }
}
