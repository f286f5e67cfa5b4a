import Bodega

/// Own operations among what others have changed meanwhile, so that each version is told once, the later ones after the
/// earlier ones, and each item comes to its place.
struct ChangesAround<Item: StorableItem> {
    /// What others have changed before, and own items that have come to the places of theirs.
    let before: ForeignChanges<Item>
    /// What is left of the own operations.
    let operations: [[StoreChange<Item>]]
    /// What others have changed after.
    let after: ForeignChanges<Item>
    /// Whether others have repaired records, so that it takes a look at all to tell the places of their items.
    var hasUnknownPlaces: Bool { before.hasUnknownPlaces || after.hasUnknownPlaces }
    /// The place in the history that is reached.
    let cursor: StorageCursor

    /// Puts the changes in order. The result is `nil` if it takes a look at all records to tell.
    ///
    /// - Parameters:
    ///   - operations: The changes of each own operation.
    ///   - news: What the history tells.
    ///   - found: The records that others have written, as they are now.
    ///   - contents: The items that are shown.
    ///   - map: Where the records are after the own operations.
    ///   - previous: Where the records were before them.
    init?(
        _ operations: [[StoreChange<Item>]],
        _ news: HistoryNews,
        _ found: [(key: CacheKey, record: DecodedRecord<Item>)],
        shown contents: OrderedItems<Item>,
        _ map: RecordExceptions,
        from previous: RecordExceptions
    ) {
        var (before, after) = (NetChanges(news.othersAroundOwn.before), NetChanges(news.othersAroundOwn.after))
        var own = OwnOperations(operations)
        if previous.hasReports || map.hasReports {
            // Then a removal leaves what the store does not know of.
            if own.concernAllItems || !own.removedKeys.isDisjoint(with: before.written) { return nil }
        }
        // What is stored is told once: where its item came to its place.
        if own.concernAllItems {
            before.leaveOutWritten(Set(after.written))
        } else {
            after.leaveOutWritten(Set(before.written).subtracting(own.keys).subtracting(after.removed))
        }
        before.leaveOutWritten(Set(after.removed))
        // What others have written and an own operation has replaced or removed is not there any more. Only the place of a
        // new item is theirs.
        let removedBefore = Set(before.removed)
        let superseded = Set(before.written.filter { own.concern($0) })
        // An own item in place of a reported record is a new one, wherever others have written theirs.
        if superseded.contains(where: previous.isReported) { return nil }
        let places = own.takeFirstInsertions(
            of: superseded.filter { !contents.contains($0) || removedBefore.contains($0) })
        before.leaveOutWritten(superseded.subtracting(places.keys))
        guard
            let before = ForeignChanges(before, found, map, instead: places),
            let after = ForeignChanges(after, found, before.map)
        else { return nil }
        self.before = before
        self.operations = own.operations
        self.after = after
        cursor = news.cursor
    }
}

/// Own operations, of which items can be taken that are told elsewhere.
private struct OwnOperations<Item: StorableItem> {
    private(set) var operations: [[StoreChange<Item>]]
    /// The keys that they name.
    let keys: Set<CacheKey>
    /// The keys under which they remove items.
    let removedKeys: Set<CacheKey>
    /// Whether one of them removes all items.
    let concernAllItems: Bool

    init(_ operations: [[StoreChange<Item>]]) {
        self.operations = operations
        keys = Set(operations.joined().flatMap { $0.keys ?? [] })
        removedKeys = Set(
            operations.joined().flatMap { change -> [CacheKey] in
                if case .remove(let keys) = change { keys } else { [] }
            })
        concernAllItems = operations.joined().contains { $0.keys == nil }
    }

    /// Whether they change what is under a key.
    func concern(_ key: CacheKey) -> Bool {
        concernAllItems || keys.contains(key)
    }

    /// Takes the items out that are inserted under some keys, of each the first, unless something is removed there before.
    mutating func takeFirstInsertions(of wanted: Set<CacheKey>) -> [CacheKey: Item] {
        var (wanted, taken) = (wanted, [CacheKey: Item]())
        operations = operations.map { changes in
            changes.compactMap { change in
                if wanted.isEmpty { return change }
                switch change {
                case .removeAll: wanted = []
                case .remove(let keys): wanted.subtract(keys)
                case .insert(let keys, let items):
                    // Of several with one key the last one counts.
                    var rest: (keys: [CacheKey], items: [Item]) = ([], [])
                    for (key, item) in zip(keys, items) {
                        if wanted.contains(key) {
                            taken[key] = item
                        } else {
                            rest.keys.append(key)
                            rest.items.append(item)
                        }
                    }
                    if rest.keys.count == keys.count { return change }
                    wanted.subtract(keys)
                    return rest.keys.isEmpty ? nil : .insert(keys: rest.keys, items: rest.items)
                }
                return change
            }
        }
        return taken
    }
}
