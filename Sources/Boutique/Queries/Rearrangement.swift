/// The steps that lead from one list of keys to another, with as few moves as possible, in time `n · log(n)` for `n`
/// keys that may have another place.
///
/// 1. Keys that are gone are removed, from the end.
/// 2. Of the keys that are in both lists, as many as possible in the same order stay.
/// 3. The other keys are inserted or moved behind their predecessors, from the start.
///
/// The keys that are in both lists in the same order for sure need not be given. Between two given keys, they form one
/// part of both lists.
///
/// The list is never changed. Each part of the old list that is in both has a slot, in the order of the old list, which
/// also counts the keys that were put behind it; the first slot counts those at the start. An index is the sum of the
/// slots before it.
struct Rearrangement {
    enum Step: Equatable {
        /// The key at an index of the old list is removed. At that time it has this index.
        case remove(at: Int)
        /// A key of the new list is inserted at an index.
        case insert(_ new: Int, at: Int)
        /// A key of the new list is removed at one index and inserted at another.
        case move(_ new: Int, from: Int, to: Int)
    }

    /// A key at its index in a list.
    typealias Place<Key> = (index: Int, key: Key)

    private(set) var steps: [Step] = []
    /// The indexes of the given keys that stay, in the old and in the new list, ascending.
    private(set) var staying: [(old: Int, new: Int)] = []

    /// Finds the steps between two lists, of which each has each key once.
    init<Key: Hashable>(from old: [Key], to new: [Key]) {
        self.init(from: old.enumerated().map { ($0, $1) }, to: new.enumerated().map { ($0, $1) }, others: 0)
    }

    /// Finds the steps between two lists, of which each has each key once.
    ///
    /// - Parameters:
    ///   - old: Keys of the old list, ascending by their indexes.
    ///   - new: Keys of the new list, ascending by their indexes.
    ///   - others: The number of the other keys, which are in both lists, in the same order.
    init<Key: Hashable>(from old: [Place<Key>], to new: [Place<Key>], others: Int) {
        // Where a key of either list divides the others.
        let cuts = Set([0, others] + Self.positions(of: old) + Self.positions(of: new)).sorted()
        let (oldParts, newParts) = (Self.parts(of: old, cuts), Self.parts(of: new, cuts))
        var oldKeys = Dictionary<Key, Int>(minimumCapacity: old.count)
        var sources: [Int: Int] = [:]
        for (source, part) in oldParts.enumerated() {
            if let key = part.key { oldKeys[key] = source } else { sources[part.start] = source }
        }
        let targets = newParts.map { $0.key.map { oldKeys[$0] } ?? sources[$0.start] }
        var isKept = Array(repeating: false, count: oldParts.count)
        for case let source? in targets { isKept[source] = true }
        for (source, part) in oldParts.enumerated().reversed() where !isKept[source] {
            steps.append(.remove(at: part.index))
        }
        var isStaying = Array(repeating: false, count: oldParts.count)
        let weights = zip(targets, newParts).compactMap { target, part in target.map { ($0, part.count) } }
        for source in Self.heaviestIncreasing(weights, below: oldParts.count) { isStaying[source] = true }

        var slots = PrefixSums(count: oldParts.count + 1)
        for (source, part) in oldParts.enumerated() where isKept[source] { slots.add(part.count, at: source + 1) }
        // The slot of the last part that stays.
        var slot = 0
        for (source, part) in zip(targets, newParts) {
            if let source, isStaying[source] {
                if part.key != nil { staying.append((oldParts[source].index, part.index)) }
                slot = source + 1
                continue
            }
            for index in part.index..<part.index + part.count {
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
    }

    /// A given key, or others between two given keys.
    private struct Part<Key> {
        var key: Key?
        /// The number of other keys before.
        var start: Int
        /// The index of the first key.
        var index: Int
        var count = 1
    }

    /// The numbers of other keys before each of some keys.
    private static func positions<Key>(of places: [Place<Key>]) -> [Int] {
        places.enumerated().map { $1.index - $0 }
    }

    private static func parts<Key>(of places: [Place<Key>], _ cuts: [Int]) -> [Part<Key>] {
        var (parts, number): ([Part<Key>], Int) = ([], 0)
        for (start, end) in zip(cuts, cuts.dropFirst() + [cuts[cuts.count - 1]]) {
            while number < places.count, places[number].index - number == start {
                parts.append(Part(key: places[number].key, start: start, index: places[number].index))
                number += 1
            }
            if start < end { parts.append(Part(start: start, index: start + number, count: end - start)) }
        }
        return parts
    }

    /// An increasing subsequence of different numbers with the largest possible sum of weights (Guy Jacobson and
    /// Kiem-Phong Vo, Heaviest Increasing/Common Subsequence Problems, Combinatorial Pattern Matching 1992).
    private static func heaviestIncreasing(_ numbers: [(number: Int, weight: Int)], below limit: Int) -> [Int] {
        // The sum of the heaviest subsequence that ends with each number, and the index before it.
        var (sums, previous): ([Int], [Int?]) = ([], [])
        // The indexes of the largest sums, by ranges of numbers, as in `PrefixSums`.
        var ends = Array(repeating: nil as Int?, count: limit + 1)
        func heavier(_ left: Int?, _ right: Int?) -> Int? {
            guard let left, let right else { return left ?? right }
            return sums[left] < sums[right] ? right : left
        }
        for (index, (number, weight)) in numbers.enumerated() {
            var (node, best) = (number, nil as Int?)
            while node > 0 {
                best = heavier(best, ends[node])
                node -= node & -node
            }
            sums.append(weight + (best.map { sums[$0] } ?? 0))
            previous.append(best)
            node = number + 1
            while node <= limit {
                ends[node] = heavier(ends[node], index)
                node += node & -node
            }
        }
        guard let last = sums.indices.max(by: { sums[$0] < sums[$1] }) else { return [] }
        return sequence(first: last) { previous[$0] }.map { numbers[$0].number }
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
