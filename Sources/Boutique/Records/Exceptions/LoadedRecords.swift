public import Bodega

/// The records of an engine after loading.
struct LoadedRecords<Item: StorableItem>: Sendable {
    var contents = OrderedItems<Item>()
    var exceptions = RecordExceptions()
    /// The cursor in the engine's log at which the records were read, if it is known.
    var cursor: StorageCursor?
}

extension LoadedRecords {
    /// Puts the items in order.
    init(_ decoded: DecodedRecords<Item>) {
        for error in decoded.unreadable { exceptions.report(error) }
        if decoded.irregular.isEmpty, let contents = OrderedItems(decoded.items, ranks: decoded.ranks) {
            self.contents = contents
        } else {
            addAll(decoded)
        }
    }

    /// Adds records of which some may not be items under their own keys.
    ///
    /// If several records hold the same item, the one under the item's own key wins, or else the one with the smallest
    /// key, and the others are reported. A copy of a reported record has a greater key than the original, so the same
    /// record wins at each load.
    private mutating func addAll(_ decoded: DecodedRecords<Item>) {
        contents.reserveCapacity(decoded.keys.count)
        decoded.forEach { key, record in
            switch record {
            case .undecodable(let error): exceptions.report(error)
            case .item(let item, let itemKey, _): add(item, itemKey, from: key)
            }
        }
    }

    private mutating func add(_ item: Item, _ key: CacheKey, from record: CacheKey) {
        if key != record, contents.contains(key) {
            let earlier = exceptions.recordKey(of: key)
            if earlier == key || earlier.isOrdered(before: record) {
                return exceptions.reportDuplicate(record, of: key)
            }
        }
        if let duplicate = exceptions.removeDisplacement(of: key) { exceptions.reportDuplicate(duplicate, of: key) }
        contents.insert(item, under: key)
        if key != record { exceptions.displace(key, to: record) }
    }
}

extension CacheKey {
    fileprivate func isOrdered(before other: CacheKey) -> Bool {
        (rawValue, kind.rawValue) < (other.rawValue, other.kind.rawValue)
    }
}

extension StorageError.Code {
    /// Several records hold items with the same identifier, so the store shows only one of them.
    public static let duplicateRecord = StorageError.Code(rawValue: "duplicateRecord")
}
