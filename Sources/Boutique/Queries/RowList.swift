import Bodega

/// The rows of a window, in order.
///
/// The list is a value: a read changes a copy of it, which replaces the old one when the read has succeeded. So that a
/// copy costs little, the rows are in chunks, which all copies share until one of them changes a chunk. A step on one
/// row finds it by binary search, copies its chunk, and renumbers the chunks behind it.
struct RowList<Item: StorableItem>: Sendable {
    typealias Order = @Sendable (QueryPlace, QueryPlace) -> Bool

    /// The maximum number of rows in a chunk.
    static var chunkSize: Int { 256 }

    private let isAscending: Order
    /// Chunks of at least one row, in order.
    private(set) var chunks: [[QueryRow<Item>]] = []
    /// The index of the first row of each chunk.
    private var starts: [Int] = []
    private var places = PlacesByKey()
    private(set) var count = 0

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - rows: The rows, in order, each key once.
    ///   - isAscending: Whether one place is before another.
    init(_ rows: [QueryRow<Item>] = [], isAscending: @escaping Order) {
        self.isAscending = isAscending
        append(rows)
    }

    var last: QueryRow<Item>? { chunks.last?.last }

    subscript(index: Int) -> QueryRow<Item> {
        let chunk = starts.partitioningIndex { $0 > index } - 1
        return chunks[chunk][index - starts[chunk]]
    }

    /// The first rows.
    func prefix(_ maximum: Int) -> [QueryRow<Item>] {
        var rows: [QueryRow<Item>] = []
        rows.reserveCapacity(min(count, maximum))
        for chunk in chunks where rows.count < maximum { rows += chunk.prefix(maximum - rows.count) }
        return rows
    }

    func contains(_ key: CacheKey) -> Bool { places[key] != nil }

    /// The index of the row with a key.
    func index(of key: CacheKey) -> Int? {
        location(of: key).map { starts[$0.chunk] + $0.offset }
    }

    // MARK: Changing

    /// Appends rows whose places are after the last one.
    mutating func append(_ rows: [QueryRow<Item>]) {
        let first = max(chunks.count - 1, 0)
        for row in rows {
            if let last = chunks.indices.last, chunks[last].count < Self.chunkSize {
                chunks[last].append(row)
            } else {
                chunks.append([row])
            }
            places[row.key] = row.place
        }
        renumber(from: first)
    }

    /// Inserts a row at its place.
    mutating func insert(_ row: QueryRow<Item>) {
        places[row.key] = row.place
        if chunks.isEmpty {
            chunks = [[row]]
            return renumber(from: 0)
        }
        let isBehind = { [isAscending] (other: QueryRow<Item>) in isAscending(row.place, other.place) }
        let chunk = max(chunks.partitioningIndex { isBehind($0[0]) } - 1, 0)
        chunks[chunk].insert(row, at: chunks[chunk].partitioningIndex(where: isBehind))
        if chunks[chunk].count > Self.chunkSize {
            let half = Array(chunks[chunk].suffix(Self.chunkSize / 2))
            chunks[chunk].removeLast(half.count)
            chunks.insert(half, at: chunk + 1)
        }
        renumber(from: chunk)
    }

    /// Removes the row with a key, if there is one.
    mutating func remove(_ key: CacheKey) {
        guard let (chunk, offset) = location(of: key) else { return }
        chunks[chunk].remove(at: offset)
        places[key] = nil
        joinChunks(around: chunk)
        renumber(from: max(chunk - 1, 0))
    }

    mutating func removeLast(_ number: Int) {
        for _ in 0..<min(number, count) {
            guard let row = chunks[chunks.count - 1].popLast() else { return }
            places[row.key] = nil
            if chunks[chunks.count - 1].isEmpty { chunks.removeLast() }
        }
        renumber(from: chunks.count)
    }

    /// Joins a chunk of few rows with the next one, so that removals don't leave many small ones.
    private mutating func joinChunks(around index: Int) {
        if chunks[index].isEmpty { chunks.remove(at: index) }
        let first = max(index - 1, 0)
        guard first + 1 < chunks.count, chunks[first].count + chunks[first + 1].count <= Self.chunkSize / 2 else {
            return
        }
        chunks[first] += chunks.remove(at: first + 1)
    }

    private mutating func renumber(from first: Int) {
        starts.removeLast(max(starts.count - first, 0))
        for index in starts.count..<chunks.count {
            starts.append(index > 0 ? starts[index - 1] + chunks[index - 1].count : 0)
        }
        count = chunks.last.map { $0.count + starts[starts.count - 1] } ?? 0
    }

    private func location(of key: CacheKey) -> (chunk: Int, offset: Int)? {
        guard let place = places[key] else { return nil }
        let chunk = max(chunks.partitioningIndex { [isAscending] in isAscending(place, $0[0].place) } - 1, 0)
        let offset = chunks[chunk].partitioningIndex { [isAscending] in !isAscending($0.place, place) }
        if offset < chunks[chunk].count, chunks[chunk][offset].key == key { return (chunk, offset) }
        // It is one of several of the same place. With a `<` that contradicts itself, it can be anywhere.
        for chunk in chunks.indices {
            if let offset = chunks[chunk].firstIndex(where: { $0.key == key }) { return (chunk, offset) }
        }
        return nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the index of the first element that fulfils a condition, which all elements behind it fulfil, too.
    func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
