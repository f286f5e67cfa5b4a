import BodegaTesting
import TestSupport
import Testing

@testable import Boutique

@Suite struct RearrangementTests {

    /// A key that counts how often it is compared and hashed.
    private struct CountingKey: Hashable {
        let number: Int
        let count: Counter

        static func == (one: CountingKey, other: CountingKey) -> Bool {
            one.count.value += 1
            return one.number == other.number
        }

        func hash(into hasher: inout Hasher) {
            count.value += 1
            number.hash(into: &hasher)
        }
    }

    private final class Counter { var value = 0 }

    /// Follows the steps with an array, as a reader of the events does.
    private static func result(of old: [Int], _ rearrangement: Rearrangement, _ new: [Int]) -> [Int] {
        var keys = old
        for step in rearrangement.steps {
            switch step {
            case .remove(let index): keys.remove(at: index)
            case .insert(let index, let target): keys.insert(new[index], at: target)
            case .move(let index, let source, let target):
                #expect(keys[source] == new[index])
                keys.remove(at: source)
                keys.insert(new[index], at: target)
            }
        }
        return keys
    }

    /// The length of the longest common subsequence, by the table of all pairs of prefixes.
    private static func commonLength(_ old: [Int], _ new: [Int]) -> Int {
        var last = Array(repeating: 0, count: new.count + 1)
        for key in old {
            var row = [0]
            for (index, other) in new.enumerated() {
                row.append(key == other ? last[index] + 1 : max(last[index + 1], row[index]))
            }
            last = row
        }
        return last[new.count]
    }

    @Test func `The steps lead from any list to any other, and as many keys as possible stay`() {
        print("rearrangements: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        for round in 0..<600 {
            let size = round % 40
            let old = Array((0..<size).shuffled(using: &random).prefix(Int.random(in: 0...size, using: &random)))
            let new = Array((0..<size).shuffled(using: &random).prefix(Int.random(in: 0...size, using: &random)))
            let rearrangement = Rearrangement(from: old, to: new)
            #expect(Self.result(of: old, rearrangement, new) == new, "\(old) to \(new)")
            #expect(rearrangement.staying.map { old[$0.old] } == rearrangement.staying.map { new[$0.new] })
            #expect(rearrangement.staying.count == Self.commonLength(old, new), "\(old) to \(new)")
            let moved = Set(old).intersection(new).count - rearrangement.staying.count
            #expect(rearrangement.steps.count == old.count + new.count - 2 * rearrangement.staying.count - moved)
        }
    }

    /// Keys that are in both lists in the same order are omitted, as far as they fall on a number.
    @Test func `Lists of which only some places are given are rearranged as whole ones`() {
        var random = SeededGenerator(seed: Seed.current)
        for round in 0..<600 {
            let size = round % 40
            let old = (0..<size).map { $0 }
            let changed = Set(old.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }).union(size..<size + 3)
            var new = old.filter { !changed.contains($0) || Bool.random(using: &random) }
            for key in changed where new.contains(key) || key >= size {
                new.removeAll { $0 == key }
                new.insert(key, at: Int.random(in: 0...new.count, using: &random))
            }
            func places(_ list: [Int]) -> [Rearrangement.Place<Int>] {
                list.enumerated().filter { changed.contains($1) }.map { ($0, $1) }
            }
            let others = old.count { !changed.contains($0) }
            let rearrangement = Rearrangement(from: places(old), to: places(new), others: others)
            #expect(Self.result(of: old, rearrangement, new) == new, "\(old) to \(new)")
            let kept = Set(old).intersection(new).count
            let moved = rearrangement.steps.count { if case .move = $0 { true } else { false } }
            #expect(kept - moved == Self.commonLength(old, new), "\(old) to \(new)")
            #expect(rearrangement.staying.map { old[$0.old] } == rearrangement.staying.map { new[$0.new] })
            #expect(Set(rearrangement.staying.map { new[$0.new] }).isSubset(of: changed))
        }
    }

    @Test func `One changed place costs the same in any list`() {
        for size in [1_000, 64_000] {
            let count = Counter()
            let key = CountingKey(number: 1, count: count)
            let rearrangement = Rearrangement(from: [(3, key)], to: [(size - 2, key)], others: size - 1)
            #expect(rearrangement.steps == [.move(size - 2, from: 3, to: size - 2)])
            #expect(count.value < 20)
        }
    }

    @Test func `Reversing a list takes steps in proportion to its length`() {
        let costs = [1_000, 8_000].map { size in
            let count = Counter()
            let keys = (0..<size).map { CountingKey(number: $0, count: count) }
            let rearrangement = Rearrangement(from: keys, to: keys.reversed())
            #expect(rearrangement.steps.count == size - 1)
            return count.value
        }
        // Of a table with an uneven hash, a few more comparisons.
        #expect(costs[1] < 10 * costs[0], "\(costs)")
    }
}
