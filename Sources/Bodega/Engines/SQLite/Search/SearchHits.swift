/// The rows of an index that match, in order.
struct SearchHits {
    private(set) var rows: [Int] = []
    /// For each row, the number of places of each phrase in each column, and then the length of all texts.
    private var numbers: [UInt32] = []
    private let (columns, width): (Int, Int)

    /// - Parameters:
    ///   - phrases: The number of phrases.
    ///   - columns: The number of texts.
    init(phrases: Int = 1, columns: Int) { (self.columns, width) = (columns, phrases * columns + 1) }

    /// The number of bytes of the numbers of a row.
    var size: Int { width * MemoryLayout<UInt32>.size }

    /// Adds a row after the others.
    mutating func append(_ row: Int, _ numbers: UnsafePointer<UInt32>) {
        rows.append(row)
        self.numbers.append(contentsOf: UnsafeBufferPointer(start: numbers, count: width))
    }

    /// The number of places of a phrase in a column.
    @inline(__always)
    func count(at position: Int, _ phrase: Int, _ column: Int) -> Int {
        Int(numbers[position * width + phrase * columns + column])
    }

    @inline(__always)
    func length(at position: Int) -> Int { Int(numbers[position * width + width - 1]) }

    /// Passes on each row that has any of several phrases, in order, with its position among the rows of each phrase
    /// that it has.
    static func forEachRow(in hits: [SearchHits], _ receive: (_ row: Int, _ positions: [Int?]) -> Void) {
        var next = hits.map { _ in 0 }
        var positions: [Int?] = hits.map { _ in nil }
        while true {
            var row = Int.max
            var isEnd = true
            for (number, hits) in hits.enumerated() where next[number] < hits.rows.count {
                row = min(row, hits.rows[next[number]])
                isEnd = false
            }
            if isEnd { return }
            for (number, hits) in hits.enumerated() {
                if next[number] < hits.rows.count, hits.rows[next[number]] == row {
                    positions[number] = next[number]
                    next[number] += 1
                } else {
                    positions[number] = nil
                }
            }
            receive(row, positions)
        }
    }
}

/// The scores of rows.
package struct SearchScores {
    private let relevance: StorageSearch.Relevance
    private let rarities: [Double]

    package init(_ relevance: StorageSearch.Relevance) {
        self.relevance = relevance
        rarities = relevance.ranking.found.indices.map(relevance.ranking.rarity)
    }

    /// The rarities of phrases.
    package func rarities(of phrases: [Int]) -> [Double] { phrases.map { rarities[$0] } }

    /// - Parameters:
    ///   - length: The length of the row's texts.
    ///   - phrases: The phrases that count.
    ///   - rarities: Their rarities.
    ///   - count: The number of places of a phrase in a column.
    @inline(__always)
    package func score(
        length: Int, phrases: [Int], rarities: [Double], _ count: (_ phrase: Int, _ column: Int) -> Int
    ) -> Double {
        relevance.ranking.score(length: length, phrases: phrases, rarities: rarities) { phrase in
            var frequency = 0.0
            for (column, weight) in relevance.weights.enumerated() {
                frequency += Double(count(phrase, column)) * weight
            }
            return frequency
        }
    }
}

/// Rows with their scores, of which the best ones are taken first. Rows with equal scores are in insertion order.
struct SearchPlaces {
    private struct Place {
        var score: Double
        var row: Int

        func isBefore(_ other: Place) -> Bool { score != other.score ? score > other.score : row < other.row }
    }

    /// A binary heap once the first place was taken: each place is before the two at twice its index, and one after.
    private var places: [Place] = []
    private var isHeap = false
    private let start: Place?

    var count: Int { places.count }

    /// - Parameter place: The place after which they begin.
    init(after place: StoragePlace?) {
        start = place.map { place in
            let score: Double =
                switch place.sortKey {
                case .integer(let integer)?: Double(integer)
                case .real(let real)?: real
                case .text?, StorageSortKey.none?, nil: .infinity
                }
            return Place(score: score, row: place.position)
        }
    }

    mutating func add(_ row: Int, _ score: Double) {
        let place = Place(score: score, row: row)
        if let start, !start.isBefore(place) { return }
        places.append(place)
    }

    /// Takes the first place.
    mutating func next() -> StoragePlace? {
        if !isHeap {
            isHeap = true
            for index in (0..<places.count / 2).reversed() { sink(index) }
        }
        guard let first = places.first else { return nil }
        let last = places.removeLast()
        if !places.isEmpty {
            places[0] = last
            sink(0)
        }
        return StoragePlace(sortKey: StorageSortKey(first.score), position: first.row)
    }

    private mutating func sink(_ start: Int) {
        var index = start
        let place = places[index]
        while true {
            var child = 2 * index + 1
            if child >= places.count { break }
            if child + 1 < places.count, places[child + 1].isBefore(places[child]) { child += 1 }
            guard places[child].isBefore(place) else { break }
            places[index] = places[child]
            index = child
        }
        places[index] = place
    }
}
