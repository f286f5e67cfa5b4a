import Bodega
import Foundation

/// An item of a window.
struct QueryRow<Item: StorableItem>: Sendable {
    let key: CacheKey
    let place: QueryPlace
    let item: Item
    /// Differs between two versions of an item.
    let version: Int

    typealias Match = (key: CacheKey, item: Item, version: Int)

    init(_ match: Match, at place: QueryPlace) {
        (key, item, version) = match
        self.place = place
    }
}

extension QueryRow {

    /// The events that lead from some rows to others, with as few moves as possible.
    ///
    /// 1. Rows that are gone are removed, from the end.
    /// 2. Of the rows that are in both, as many as possible in the same order stay.
    /// 3. The other rows are inserted or moved behind their predecessors, from the start.
    static func events(from old: ArraySlice<QueryRow>, to new: ArraySlice<QueryRow>) -> [LiveQueryEvent<Item>] {
        var events: [LiveQueryEvent<Item>] = []
        let newKeys = Set(new.map(\.key))
        for (index, row) in old.enumerated().reversed() where !newKeys.contains(row.key) {
            events.append(.removed(row.item, at: index))
        }
        var rows = old.filter { newKeys.contains($0.key) }
        let places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.key, $0) })
        let staying = Set(longestIncreasing(new.compactMap { places[$0.key] }))
        // The number of rows that have their places.
        var count = 0
        for row in new {
            if let place = places[row.key] {
                if staying.contains(place) {
                    // Rows in between are moved later.
                    while rows[count].key != row.key { count += 1 }
                } else if let source = rows.firstIndex(where: { $0.key == row.key }) {
                    rows.remove(at: source)
                    if source < count { count -= 1 }
                    rows.insert(row, at: count)
                    events.append(.moved(row.item, from: source, to: count))
                }
            } else {
                rows.insert(row, at: count)
                events.append(.inserted(row.item, at: count))
            }
            count += 1
        }
        for (index, (before, after)) in zip(rows, new).enumerated() where before.version != after.version {
            events.append(.updated(after.item, at: index))
        }
        return events
    }

    /// A longest increasing subsequence of different numbers (Michael Fredman, On Computing the Length of Longest Increasing
    /// Subsequences, Discrete Mathematics 1975).
    private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
        // The index of the smallest number that ends a subsequence of each length, and the index before each number.
        var (ends, previous): ([Int], [Int?]) = ([], [])
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous.append(low > 0 ? ends[low - 1] : nil)
            if low < ends.count { ends[low] = index } else { ends.append(index) }
        }
        guard let last = ends.last else { return [] }
        return sequence(first: last) { previous[$0] }.map { numbers[$0] }
    }
}
