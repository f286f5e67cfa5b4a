import Bodega

/// The changes of an engine's log after a cursor, as two net effects: up to the store's own last change, and after it.
/// They come with the records that other origins have written.
struct RecordChanges<Item: StorableItem>: Sendable {
    /// The cursor after the changes.
    let cursor: StorageCursor
    /// Whether any change was made by an origin other than the store's own, or with its own, but by a wrapper.
    var hasForeignChanges: Bool { !parts.isEmpty }

    /// Whether any change of another origin may belong to a transaction over several collections. Programs without
    /// this package don't say so.
    private(set) var maySpanCollections = false

    /// Whether the store's own changes have changed other collections, too: what follows from the removal of an item
    /// that others name.
    private(set) var hasConsequences = false

    private var parts: [NetEffect] = []
    /// The records that other origins have written, as they are at the cursor.
    private var records: [CacheKey: DecodedRecord<Item>] = [:]

    /// Creates changes of the store itself, which has them already.
    init(ownUpTo cursor: StorageCursor) {
        self.cursor = cursor
    }

    /// Creates changes of any origin.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of the log.
    ///   - records: The existing records at the cursor under the keys that other origins have written.
    ///   - cursor: The cursor after the changes.
    ///   - origin: The store's own origin.
    ///   - ownRemovals: The keys of the records that the store itself has removed; `nil` if it does not matter.
    init(
        _ changes: [StorageChange],
        _ records: [(key: CacheKey, record: DecodedRecord<Item>)],
        upTo cursor: StorageCursor,
        ownOrigin origin: StorageOrigin,
        ownRemovals: Set<CacheKey>? = nil
    ) {
        self.cursor = cursor
        hasConsequences = changes.contains { $0.origin == origin && $0.origin?.isShared == true }
        let isShown = changes.allSatisfy { change in
            change.origin == origin && (change.kind == .written || ownRemovals?.contains(change.key) ?? true)
        }
        if isShown { return }
        maySpanCollections = changes.contains { $0.origin?.isShared ?? true && $0.origin != origin }
        let endOfOwn = changes.lastIndex { $0.origin == origin }.map { $0 + 1 } ?? 0
        parts = [changes[..<endOfOwn], changes[endOfOwn...]].map { NetEffect($0, of: origin) }
        self.records = Dictionary(records.map { ($0.key, $0.record) }) { first, _ in first }
        undecodable = self.records.values.compactMap { $0.error }
    }

    /// The errors of the records that can't be decoded.
    private(set) var undecodable: [StorageError] = []

    /// The number of keys that the net effects change.
    var count: Int { parts.reduce(0) { $0 + $1.removed.count + $1.written.count } }
}

/// The net effect of changes, key by key.
///
/// Removing the keys in ``removed`` and then writing those in ``written`` leads to the same records in the same order
/// as the individual changes. A record that is removed and written again moves to the end.
struct NetEffect: Sendable {
    /// The keys that were removed at least once, each once.
    private(set) var removed: [CacheKey] = []
    /// The keys that were written after their last removal, each once, in the order of the first of these writes.
    private(set) var written: [CacheKey] = []
    /// The keys in ``written`` whose last write was made by the given origin.
    private(set) var own: Set<CacheKey> = []

    init(_ changes: some Sequence<StorageChange>, of origin: StorageOrigin) {
        var removals: [CacheKey: Int] = [:]
        var writes: [CacheKey: Int] = [:]
        for (number, change) in changes.enumerated() {
            if change.kind == .written, change.origin == origin {
                own.insert(change.key)
            } else {
                own.remove(change.key)
            }
            switch change.kind {
            case .written:
                if writes[change.key] == nil { writes[change.key] = number }
            case .removed:
                removals[change.key] = number
                writes[change.key] = nil
            }
        }
        for (number, change) in changes.enumerated() {
            if removals[change.key] == number { removed.append(change.key) }
            if writes[change.key] == number { written.append(change.key) }
        }
    }
}

extension RecordChanges {

    /// The changes that the store has to show.
    struct Shown {
        fileprivate(set) var changes: [StoreChange<Item>] = []
        fileprivate(set) var exceptions: RecordExceptions
        /// Whether reported records have become items. These take the places of their records in the engine, which the
        /// store does not know.
        fileprivate(set) var hasUnknownPlaces = false
    }

    /// Determines the changes that the store has to show, so that it shows each version once.
    ///
    /// - Parameters:
    ///   - contents: The items that are shown.
    ///   - exceptions: The exceptions after the store's own operations.
    ///   - operations: The store's own operations among the changes that are not shown yet.
    /// - Returns: `nil` if the store has to read all records, because some are not under the keys of their items.
    func shown(
        after contents: OrderedItems<Item>,
        _ exceptions: RecordExceptions,
        with operations: [[StoreChange<Item>]]
    ) -> Shown? {
        if exceptions.hidePlaces { return nil }
        // A removed file of the first Bodega may also have been found under another key.
        if parts.contains(where: { $0.removed.contains { $0.kind != .hashed } }) { return nil }
        var shown = Shown(exceptions: exceptions)
        let own = StoreChange.lastInsertions(operations.joined())
        // A stored version is shown once, where its key was first written.
        var shownKeys: Set<CacheKey> = []
        var removedLater = Set(parts.last?.removed ?? [])
        var isPresent: [CacheKey: Bool] = [:]
        for part in parts {
            var hidden: [CacheKey] = []
            var inserted: (keys: [CacheKey], items: [Item]) = ([], [])
            // An own record without an item among the operations is shown already, or is a copy of a reported record.
            for key in part.removed where !part.own.contains(key) || own[key] != nil {
                hidden.append(key)
                if !part.own.contains(key) { shown.exceptions.withdrawReport(of: key) }
            }
            let removedKeys = Set(exceptions.hasReports ? part.removed : [])
            for key in part.written {
                if part.own.contains(key) {
                    guard let item = own[key] else { continue }
                    inserted.keys.append(key)
                    inserted.items.append(item)
                    continue
                }
                if removedLater.contains(key) || !shownKeys.insert(key).inserted { continue }
                switch records[key] {
                // The record was removed after the cursor, which the next changes will contain.
                case nil: shown.exceptions.withdrawReport(of: key)
                case .undecodable(let error):
                    shown.exceptions.report(error)
                    hidden.append(key)
                case .item(let item, let itemKey, _):
                    guard itemKey == key else { return nil }
                    if shown.exceptions.isReported(key), !removedKeys.contains(key) { shown.hasUnknownPlaces = true }
                    shown.exceptions.withdrawReport(of: key)
                    inserted.keys.append(key)
                    inserted.items.append(item)
                }
            }
            hidden.removeAll { !(isPresent[$0] ?? contents.contains($0)) }
            for key in hidden { isPresent[key] = false }
            for key in inserted.keys { isPresent[key] = true }
            if !hidden.isEmpty { shown.changes.append(.remove(hidden)) }
            if !inserted.keys.isEmpty { shown.changes.append(.insert(keys: inserted.keys, items: inserted.items)) }
            removedLater = []
        }
        return shown
    }
}

extension RecordChanges {
    /// Does the same as ``shown(after:_:with:)``, off the main actor.
    @concurrent func preparedShown(
        after contents: OrderedItems<Item>,
        _ exceptions: RecordExceptions,
        with operations: [[StoreChange<Item>]]
    ) async -> Shown? {
        shown(after: contents, exceptions, with: operations)
    }
}

extension StoreChange {
    /// Returns the last item that changes insert under each key.
    fileprivate static func lastInsertions(_ changes: some Sequence<Self>) -> [CacheKey: Item] {
        var items: [CacheKey: Item] = [:]
        for case .insert(let keys, let inserted) in changes {
            for (key, item) in zip(keys, inserted) { items[key] = item }
        }
        return items
    }
}
