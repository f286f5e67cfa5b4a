import Bodega

/// What others have changed, as it is shown.
struct ForeignChanges<Item: StorableItem> {
    /// Where the records are then.
    private(set) var map: RecordExceptions
    /// Whether reported records have become items. The engine has these at the places of the records, which are not known.
    private(set) var hasUnknownPlaces = false
    private var removed: [CacheKey]
    private var written: [(key: CacheKey, item: Item)] = []

    /// Finds out what to show. The result is `nil` if it takes a look at all records to tell, because some are not where
    /// they belong.
    ///
    /// - Parameters:
    ///   - outcome: What others have done.
    ///   - found: The records under the written keys, as far as they still exist. Others are skipped.
    ///   - before: Where the records were before.
    ///   - own: Own items to show instead of what others have written.
    init?(
        _ outcome: NetChanges,
        _ found: [(key: CacheKey, record: DecodedRecord<Item>)],
        _ before: RecordExceptions,
        instead own: [CacheKey: Item] = [:]
    ) {
        if before.hasDisplacedItems || before.hasDuplicates { return nil }
        if outcome.removed.contains(where: { $0.kind != .hashed }) { return nil }
        map = before
        removed = outcome.removed
        for key in outcome.removed + outcome.written { map.withdrawReport(of: key) }
        let records = Dictionary(found.map { ($0.key, $0.record) }) { first, _ in first }
        let places = before.hasReports ? Set(outcome.removed) : []
        for key in outcome.written {
            if let item = own[key] {
                written.append((key, item))
                continue
            }
            switch records[key] {
            // Whoever has removed it since then will be told of.
            case nil: break
            case .undecodable(let error):
                map.report(error)
                removed.append(key)
            case .item(let item, let itemKey, _):
                guard itemKey == key else { return nil }
                if before.isReported(key), !places.contains(key) { hasUnknownPlaces = true }
                written.append((key, item))
            }
        }
    }

    /// The changes of what is shown now.
    func changes(of contents: OrderedItems<Item>) -> [StoreChange<Item>] {
        var changes: [StoreChange<Item>] = []
        let gone = removed.filter(contents.contains)
        if !gone.isEmpty { changes.append(.remove(gone)) }
        if !written.isEmpty {
            changes.append(.insert(keys: written.map { $0.key }, items: written.map { $0.item }))
        }
        return changes
    }
}
