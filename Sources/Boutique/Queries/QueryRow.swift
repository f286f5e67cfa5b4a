import Bodega
import Foundation

/// An item of a window.
struct QueryRow<Item: StorableItem>: Sendable {
    let key: CacheKey
    let place: QueryPlace
    let item: Item
    /// Differs between two versions of an item.
    let version: Int

    init(_ match: QueryMatch<(item: Item, version: Int)>) {
        key = match.key
        place = match.place
        item = match.match.item
        version = match.match.version
    }
}

extension QueryRow {

    /// The events that lead from some rows to others, with as few moves as possible.
    ///
    /// 1. Rows that are in both, and in the same order, stay: they are the longest common subsequence (Eugene Myers, An
    ///    O(ND) Difference Algorithm and Its Variations, Algorithmica 1986).
    /// 2. Rows that are gone are removed, from the end.
    /// 3. The other rows are inserted or moved behind their predecessors, from the start.
    static func events(from old: ArraySlice<QueryRow>, to new: ArraySlice<QueryRow>) -> [LiveQueryEvent<Item>] {
        var events: [LiveQueryEvent<Item>] = []
        var rows = Array(old)
        let newKeys = Set(new.map(\.key))
        for index in rows.indices.reversed() where !newKeys.contains(rows[index].key) {
            events.append(.removed(rows[index].item, at: index))
            rows.remove(at: index)
        }
        var placed: Set<CacheKey> = []
        for case .insert(_, let key, _) in new.map(\.key).difference(from: rows.map(\.key)) { placed.insert(key) }
        let existing = Set(rows.map(\.key))
        var previous: CacheKey?
        for row in new {
            defer { previous = row.key }
            guard placed.contains(row.key) else { continue }
            let source = existing.contains(row.key) ? rows.firstIndex { $0.key == row.key } : nil
            if let source { rows.remove(at: source) }
            let target = previous.flatMap { key in rows.firstIndex { $0.key == key } }.map { $0 + 1 } ?? 0
            rows.insert(row, at: target)
            events.append(source.map { .moved(row.item, from: $0, to: target) } ?? .inserted(row.item, at: target))
        }
        for (index, (before, after)) in zip(rows, new).enumerated() where before.version != after.version {
            events.append(.updated(after.item, at: index))
        }
        return events
    }
}
