/// The rows of a ``MemoryIndex``, in the order of their sort keys, and rows with equal keys in insertion order.
///
/// They are in chunks, which copies share until one of them changes a chunk. An insertion or removal finds its place by
/// binary search, and moves the rows of one chunk.
struct MemoryRows: Sendable {

    /// An item in an index.
    struct Row: Sendable {
        /// The sort key of the first member.
        let first: StorageSortKey
        /// Those of the other members. An index over one member allocates no array for each row.
        let others: [StorageSortKey]
        /// The item's place in insertion order.
        let position: Int
        let key: CacheKey

        func sortKey(_ member: Int) -> StorageSortKey { member == 0 ? first : others[member - 1] }

        /// The sort keys of all members of a compound index, otherwise none.
        var sortKeys: [StorageSortKey] { others.isEmpty ? [] : [first] + others }

        /// Whether the row comes before another one.
        static func < (left: Row, right: Row) -> Bool {
            if left.first != right.first { return left.first < right.first }
            for (one, other) in zip(left.others, right.others) where one != other { return one < other }
            return left.position < right.position
        }
    }

    /// A place between rows: before the one at an offset in a chunk, or after the last one of all.
    struct Location: Comparable, Sendable {
        var chunk: Int
        var offset: Int

        static func < (left: Location, right: Location) -> Bool {
            (left.chunk, left.offset) < (right.chunk, right.offset)
        }
    }

    /// The maximum number of rows in a chunk.
    private static let chunkSize = 128

    /// Chunks of at least one row.
    private var chunks: [[Row]] = []

    /// Creates rows, in any order.
    init(_ rows: [Row] = []) {
        let sorted = rows.sorted { $0 < $1 }
        // There is room for further ones.
        let size = Self.chunkSize * 3 / 4
        chunks = stride(from: 0, to: sorted.count, by: size).map { Array(sorted[$0..<min($0 + size, sorted.count)]) }
    }

    var start: Location { Location(chunk: 0, offset: 0) }
    var end: Location { Location(chunk: chunks.count, offset: 0) }

    subscript(location: Location) -> Row { chunks[location.chunk][location.offset] }

    func location(after location: Location) -> Location {
        let next = Location(chunk: location.chunk, offset: location.offset + 1)
        return next.offset < chunks[next.chunk].count ? next : Location(chunk: next.chunk + 1, offset: 0)
    }

    func location(before location: Location) -> Location {
        if location.offset > 0 { return Location(chunk: location.chunk, offset: location.offset - 1) }
        return Location(chunk: location.chunk - 1, offset: chunks[location.chunk - 1].count - 1)
    }

    /// The place of the first row that fulfils a condition, which all rows behind it fulfil, too.
    func firstLocation(where isBehind: (Row) -> Bool) -> Location {
        // The first chunk whose last row is behind the place.
        let chunk = Self.firstIndex(of: chunks) { isBehind($0[$0.count - 1]) }
        if chunk == chunks.count { return end }
        return Location(chunk: chunk, offset: Self.firstIndex(of: chunks[chunk], where: isBehind))
    }

    /// The number of rows in a range. It is not known how many rows are before a chunk, because every insertion would
    /// have to update that for all chunks behind it.
    func count(_ range: Range<Location>) -> Int {
        let (lower, upper) = (range.lowerBound, range.upperBound)
        if lower.chunk == upper.chunk { return upper.offset - lower.offset }
        return chunks[lower.chunk..<upper.chunk].reduce(upper.offset - lower.offset) { $0 + $1.count }
    }

    private static func firstIndex<Element>(of elements: [Element], where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Changing

    mutating func insert(_ row: Row) {
        var location = firstLocation { row < $0 }
        if location == end {
            // Rows that come in ascending order fill their chunks.
            guard let last = chunks.indices.last, chunks[last].count < Self.chunkSize else {
                chunks.append([row])
                return
            }
            location = Location(chunk: last, offset: chunks[last].count)
        }
        chunks[location.chunk].insert(row, at: location.offset)
        guard chunks[location.chunk].count > Self.chunkSize else { return }
        let half = Array(chunks[location.chunk].suffix(Self.chunkSize / 2))
        chunks[location.chunk].removeLast(half.count)
        chunks.insert(half, at: location.chunk + 1)
    }

    mutating func remove(_ row: Row) {
        let location = firstLocation { !($0 < row) }
        guard location < end, self[location].position == row.position else { return }
        chunks[location.chunk].remove(at: location.offset)
        if chunks[location.chunk].isEmpty {
            chunks.remove(at: location.chunk)
        } else {
            join(location.chunk)
            if location.chunk > 0 { join(location.chunk - 1) }
        }
    }

    /// Joins a chunk with the next one if both have few rows, so that removals don't leave many small ones.
    private mutating func join(_ chunk: Int) {
        guard chunk + 1 < chunks.count, chunks[chunk].count + chunks[chunk + 1].count <= Self.chunkSize / 2 else {
            return
        }
        chunks[chunk] += chunks.remove(at: chunk + 1)
    }
}
