import Bodega
import BodegaTesting
import Foundation

/// A sequence of faults, in an order and at moments that depend only on a seed.
///
/// Moments are counted in steps of the disturbed work, such as completed operations, not in time, so that the number of
/// faults doesn't depend on the machine's speed.
package struct FaultPlan: Sendable {
    private let faults: [Fault]
    private let rounds: Int
    private let distance: ClosedRange<Int>
    private let length: ClosedRange<Int>
    private let seed: UInt64

    /// Describes a plan.
    ///
    /// - Parameters:
    ///   - faults: The possible faults. Each occurs if there are at least as many rounds.
    ///   - seed: The seed of the order and the moments.
    ///   - rounds: The number of faults.
    ///   - distance: The number of steps before the next fault.
    ///   - length: The number of steps that complete or fail while a fault lasts, chosen on a logarithmic scale: some
    ///     faults make steps fail immediately, others show only in steps that wait for a long time.
    package init(
        _ faults: [Fault],
        seed: UInt64,
        rounds: Int,
        distance: ClosedRange<Int> = 1...30,
        length: ClosedRange<Int> = 1...1_000
    ) {
        (self.faults, self.seed, self.rounds) = (faults, seed, rounds)
        (self.distance, self.length) = (distance, length)
    }

    /// Injects the faults.
    ///
    /// - Parameters:
    ///   - patience: The maximum duration of a fault, and of the pause before one, if no steps complete: a fault may
    ///     block all of them.
    ///   - steps: Returns the number of completed steps.
    package func run(patience: Duration = .seconds(3), steps: @Sendable () -> Int) async throws {
        var random = SeededGenerator(seed: seed)
        var coming: [Fault] = []
        for round in 1...max(1, rounds) {
            if coming.isEmpty { coming = faults.shuffled(using: &random) }
            let fault = coming.removeLast()
            let before = Int.random(in: distance, using: &random)
            let logarithms = log(Double(length.lowerBound))...log(Double(length.upperBound))
            let during = Int(exp(Double.random(in: logarithms, using: &random)).rounded())
            try await wait(for: before, steps, patience)
            print("fault \(round) after \(before) steps, for \(during): \(fault.name)")
            try await fault.during { try await wait(for: during, steps, patience) }
        }
    }

    private func wait(for count: Int, _ steps: @Sendable () -> Int, _ patience: Duration) async throws {
        let (first, deadline) = (steps(), ContinuousClock.now + patience)
        while steps() < first + count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
