/// Random numbers that are the same for the same seed, everywhere and for ever: SplitMix64 by Steele, Lea and Flood, 2014.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameter seed: Any number; each gives another sequence.
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

// The standard library may draw its numbers in another way in its next version, and pictures must stay the same.
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

    /// Whether something happens that happens so often.
    mutating func chance(_ probability: Double) -> Bool {
        number(0...1) < probability
    }

    /// One of some things, of which there must be one at least.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[integer(0...(elements.count - 1))]
    }
}
