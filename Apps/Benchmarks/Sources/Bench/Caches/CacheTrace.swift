import BodegaTesting
import Foundation

/// The keys that a program reads, in order.
struct CacheTrace {
    let keys: [Int]

    /// Keys whose frequency falls with their rank, as 1 / rank^exponent.
    static func zipf(_ exponent: Double, keys: Int, reads: Int) -> CacheTrace {
        var generator = SeededGenerator(seed: 1)
        var sums: [Double] = []
        for rank in 1...keys { sums.append((sums.last ?? 0) + pow(Double(rank), -exponent)) }
        return CacheTrace(
            keys: (0..<reads).map { _ in
                let wanted = Double.random(in: 0..<(sums.last ?? 0), using: &generator)
                var (low, high) = (0, keys - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if sums[middle] < wanted { low = middle + 1 } else { high = middle }
                }
                return low
            })
    }

    /// Frequent keys that are replaced by others over time.
    static func drift(reads: Int) -> CacheTrace {
        let still = zipf(0.99, keys: 20_000, reads: reads).keys
        return CacheTrace(keys: still.enumerated().map { $1 + $0 / 2_000 * 20 })
    }

    /// The files that the Swift compiler opened during a clean build of the module RecordCoder, traced on Linux.
    static func compilerFiles() throws -> CacheTrace {
        guard let url = Bundle.module.url(forResource: "compiler-files", withExtension: "trace") else {
            throw CocoaError(.fileNoSuchFile)
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        return CacheTrace(keys: text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) })
    }

    /// The reads that a cache answers that evicts the item that was not read for the longest time.
    func hitsOfLRU(capacity: Int) -> Int {
        // The positions of the last reads. The oldest is found by going forward, so each position is passed once.
        var (last, oldest, hits) = ([Int: Int](), 0, 0)
        for (position, key) in keys.enumerated() {
            if last[key] != nil { hits += 1 }
            last[key] = position
            while last.count > capacity {
                if last[keys[oldest]] == oldest { last[keys[oldest]] = nil }
                oldest += 1
            }
        }
        return hits
    }

    /// The most reads that any cache can answer: it evicts the item that is read again last, or does not keep a new
    /// one.
    ///
    /// Source: L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal,
    /// 1966.
    func hitsOfOptimum(capacity: Int) -> Int {
        var next = [Int](repeating: .max, count: keys.count)
        var seen: [Int: Int] = [:]
        for position in keys.indices.reversed() {
            next[position] = seen[keys[position]] ?? keys.count + position
            seen[keys[position]] = position
        }
        var (cached, hits) = ([Int: Int](), 0)
        // Positions of next reads; the latest is the largest.
        var order = SortedPositions(count: 2 * keys.count)
        for (position, key) in keys.enumerated() {
            if let due = cached[key] {
                hits += 1
                order.remove(due)
            }
            cached[key] = next[position]
            order.insert(next[position], key)
            if cached.count > capacity, let evicted = order.removeLast() { cached[evicted] = nil }
        }
        return hits
    }
}

/// Positions with a key each, of which the largest is found by going back from the last one inserted.
private struct SortedPositions {
    private var keys: [Int?]
    private var largest = -1

    init(count: Int) { keys = Array(repeating: nil, count: count) }

    mutating func insert(_ position: Int, _ key: Int) {
        keys[position] = key
        largest = max(largest, position)
    }

    mutating func remove(_ position: Int) { keys[position] = nil }

    mutating func removeLast() -> Int? {
        while largest >= 0 {
            if let key = keys[largest] {
                keys[largest] = nil
                return key
            }
            largest -= 1
        }
        return nil
    }
}
