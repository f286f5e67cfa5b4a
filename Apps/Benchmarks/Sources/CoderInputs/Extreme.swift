import BodegaTesting
import Foundation

/// Values that few records have: numbers of many digits, numbers near the smallest, and integers as keys; about 2 kB.
package struct Extreme: Shape {
    package static let name = "extreme"

    var prices: [Decimal]
    var tiny: [Double]
    var counts: [Int: Int]

    package init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        prices = (0..<8).map { index in
            let digits = Decimal(random.next() >> 1) * 1_000_000_000 + Decimal(random.next() % 1_000_000_000)
            return Decimal(sign: .plus, exponent: -index, significand: digits)
        }
        tiny = (0..<8).map { _ in Double(bitPattern: random.next() >> 12 | 1) }
        counts = Dictionary((0..<80).map { ($0 * 7_919, Int(random.next() % 1_000)) }) { first, _ in first }
    }

    package func copied() -> Extreme {
        var copy = self
        copy.prices = prices.map { $0 }
        copy.tiny = tiny.map { $0 }
        copy.counts = Dictionary(uniqueKeysWithValues: counts.map { ($0, $1) })
        return copy
    }
}
