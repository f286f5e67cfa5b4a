import Foundation

/// A deterministic random number generator, so that a test can be repeated.
///
/// It is SplitMix64: Guy L. Steele Jr., Doug Lea, Christine H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014. It is not cryptographically secure.
public struct SeededGenerator: RandomNumberGenerator, Sendable {

    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameter seed: The seed; equal seeds give equal numbers.
    public init(seed: UInt64) { state = seed }

    /// The next number, any of 64 bits with equal probability.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Reads a seed in decimal digits from an environment variable.
    static func seedFromEnvironment(_ name: String = "EMPORIUM_SEED") -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
