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
