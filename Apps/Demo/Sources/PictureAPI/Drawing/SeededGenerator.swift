/// A generator of random numbers that gives the same numbers for the same seed on every platform: SplitMix64 by Steele,
/// Lea and Flood, 2014.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameter seed: The seed. Each seed gives a different sequence.
    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

// A later version of the standard library may derive numbers differently, and pictures must stay the same.
extension SeededGenerator {

    /// A number in a range.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        let fraction = Double(next() >> 11) / Double(1 << 53)
        return range.lowerBound + fraction * (range.upperBound - range.lowerBound)
    }

    /// A whole number in a range.
    mutating func integer(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// `true` with a given probability.
    mutating func chance(_ probability: Double) -> Bool {
        number(0...1) < probability
    }

    /// A random element of a collection, which must not be empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[integer(0...(elements.count - 1))]
    }
}
