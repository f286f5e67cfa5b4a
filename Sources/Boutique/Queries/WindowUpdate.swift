import Bodega

/// What a window has read.
protocol WindowContentsValue: Sendable {
    associatedtype Item: StorableItem

    /// The rows that are shown.
    var shown: [QueryRow<Item>] { get }
    /// The number of rows that are shown.
    var shownCount: Int { get }
    /// Returns a row that is shown.
    func shownRow(at index: Int) -> QueryRow<Item>
    /// Returns the index of the row with a key, if it is shown.
    func shownIndex(of key: CacheKey) -> Int?
    /// The keys under which rows may differ from those that were shown last; `nil` if any can. Other rows can only come
    /// into view or leave it, at the end.
    var changedKeys: Set<CacheKey>? { get }
    /// Records that the rows are shown.
    mutating func didShow()

    /// The number of rows, with those that are not shown.
    var rowCount: Int { get }
    /// The maximum number of rows that are shown.
    var limit: Int { get }
    /// Whether there are matches that are not shown.
    var hasMore: Bool { get }
    /// The errors of the records that could not be read.
    var undecodable: [StorageError] { get }
}

/// What a window shows after a read, and how that differs from what it showed before.
///
/// It is prepared off the main actor. If the read knows which items have changed, that takes `n · log(m)` for `n`
/// changes of `m` rows, otherwise `m · log(m)`.
struct WindowUpdate<Contents: WindowContentsValue>: Sendable {
    typealias Item = Contents.Item

    let contents: Contents
    /// The events that lead from the earlier items to these: removals, then insertions and as few moves as possible,
    /// then updates of the rows that keep their places.
    let events: [LiveQueryEvent<Item>]
    /// All items that are shown; `nil` if the main actor applies the events to the earlier items.
    let all: WindowItems<Item>?

    init(_ contents: Contents, after old: Contents?, sections: (any ItemSections<Item>)? = nil) {
        self.contents = contents
        if let old, let keys = contents.changedKeys {
            let keys = Self.differing(keys, old, contents)
            events = Self.events(
                from: Self.places(of: keys, in: old), in: old, to: Self.places(of: keys, in: contents), in: contents)
            if events.count * contents.shownCount <= Self.maximumWork {
                all = nil
                return
            }
        } else {
            let (before, after) = (old?.shown ?? [], contents.shown)
            let (first, last) = Self.equalRows(before, after)
            func places(_ rows: [QueryRow<Item>]) -> [Rearrangement.Place<CacheKey>] {
                (first..<rows.count - last).map { ($0, rows[$0].key) }
            }
            events = Self.events(from: places(before), in: old, to: places(after), in: contents)
        }
        all = WindowItems(sections: sections).replaced(with: contents.shown.map { $0.item })
    }

    /// The largest number of items that the main actor moves, of which each event can move all.
    static var maximumWork: Int { 1 << 17 }

    /// Returns how many rows are the same at the beginning and at the end.
    private static func equalRows(_ old: [QueryRow<Item>], _ new: [QueryRow<Item>]) -> (first: Int, last: Int) {
        func areEqual(_ left: QueryRow<Item>, _ right: QueryRow<Item>) -> Bool {
            left.version == right.version && left.key == right.key
        }
        let count = min(old.count, new.count)
        let first = (0..<count).first { !areEqual(old[$0], new[$0]) } ?? count
        let rest = count - first
        return (first, (0..<rest).first { !areEqual(old[old.count - 1 - $0], new[new.count - 1 - $0]) } ?? rest)
    }

    /// Returns the keys of all rows that may differ, with those that come into view or leave it at the end.
    private static func differing(_ keys: Set<CacheKey>, _ old: Contents, _ new: Contents) -> Set<CacheKey> {
        var keys = keys
        for (these, others) in [(old, new), (new, old)] {
            for index in (0..<these.shownCount).reversed() {
                let key = these.shownRow(at: index).key
                if keys.contains(key) { continue }
                if others.shownIndex(of: key) != nil { break }
                keys.insert(key)
            }
        }
        return keys
    }

    private static func places(of keys: Set<CacheKey>, in contents: Contents) -> [Rearrangement.Place<CacheKey>] {
        keys.compactMap { key in contents.shownIndex(of: key).map { ($0, key) } }.sorted { $0.index < $1.index }
    }

    private static func events(
        from oldPlaces: [Rearrangement.Place<CacheKey>], in old: Contents?,
        to newPlaces: [Rearrangement.Place<CacheKey>], in new: Contents
    ) -> [LiveQueryEvent<Item>] {
        let others = new.shownCount - newPlaces.count
        let rearrangement = Rearrangement(from: oldPlaces, to: newPlaces, others: others)
        // Without earlier rows, there are only insertions.
        func oldRow(_ index: Int) -> QueryRow<Item> { (old ?? new).shownRow(at: index) }
        var events: [LiveQueryEvent<Item>] = rearrangement.steps.map { step in
            switch step {
            case .remove(let index): .removed(oldRow(index).item, at: index)
            case .insert(let index, let target): .inserted(new.shownRow(at: index).item, at: target)
            case .move(let index, let source, let target):
                .moved(new.shownRow(at: index).item, from: source, to: target)
            }
        }
        for (before, after) in rearrangement.staying {
            let row = new.shownRow(at: after)
            if oldRow(before).version != row.version { events.append(.updated(row.item, at: after)) }
        }
        return events
    }
}
