/// The steps that lead from one list of keys to another, with as few moves as possible, in time `n · log(n)`.
///
/// 1. Keys that are gone are removed, from the end.
/// 2. Of the keys that are in both lists, as many as possible in the same order stay.
/// 3. The other keys are inserted or moved behind their predecessors, from the start.
///
/// The list is never changed. Each key that is in both lists has a slot, in the order of the old list, which also
/// counts the keys that were put behind it; the first slot counts those at the start. An index is the sum of the slots
/// before it.
struct Rearrangement {
    enum Step: Equatable {
        /// The key at an index of the old list is removed. At that time it has this index.
        case remove(at: Int)
        /// A key of the new list is inserted at an index.
        case insert(_ new: Int, at: Int)
        /// A key of the new list is removed at one index and inserted at another.
        case move(_ new: Int, from: Int, to: Int)
    }

    private(set) var steps: [Step] = []
    /// The indexes of the keys that stay, in the old and in the new list, ascending.
    private(set) var staying: [(old: Int, new: Int)] = []

    /// Finds the steps between two lists, of which each has each key once.
    init<Key: Hashable>(from old: [Key], to new: [Key]) {
        var oldIndexes = Dictionary<Key, Int>(minimumCapacity: old.count)
        for (index, key) in old.enumerated() { oldIndexes[key] = index }
        let sources = new.map { oldIndexes[$0] }
        var isKept = Array(repeating: false, count: old.count)
        for case let source? in sources { isKept[source] = true }
        for index in old.indices.reversed() where !isKept[index] { steps.append(.remove(at: index)) }
        var isStaying = Array(repeating: false, count: old.count)
        for source in Self.longestIncreasing(sources.compactMap { $0 }) { isStaying[source] = true }

        var slots = PrefixSums(count: old.count + 1)
        for index in old.indices where isKept[index] { slots.add(1, at: index + 1) }
        // The slot of the last key that stays.
        var slot = 0
        for (index, source) in sources.enumerated() {
            if let source, isStaying[source] {
                staying.append((source, index))
                slot = source + 1
                continue
            }
            if let source {
                let start = slots.sum(through: source)
                slots.add(-1, at: source + 1)
                steps.append(.move(index, from: start, to: slots.sum(through: slot)))
            } else {
                steps.append(.insert(index, at: slots.sum(through: slot)))
            }
            slots.add(1, at: slot)
        }
    }

    /// A longest increasing subsequence of different numbers (Michael Fredman, On Computing the Length of Longest
    /// Increasing Subsequences, Discrete Mathematics 1975).
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

/// Numbers whose sums from the first to any other are found in logarithmic time (Peter Fenwick, A New Data Structure
/// for Cumulative Frequency Tables, Software: Practice and Experience 1994).
private struct PrefixSums {
    private var sums: [Int]

    /// Creates zeros.
    init(count: Int) { sums = Array(repeating: 0, count: count + 1) }

    mutating func add(_ number: Int, at index: Int) {
        var node = index + 1
        while node < sums.count {
            sums[node] += number
            node += node & -node
        }
    }

    func sum(through index: Int) -> Int {
        var (node, sum) = (index + 1, 0)
        while node > 0 {
            sum += sums[node]
            node -= node & -node
        }
        return sum
    }
}
