import Bodega
import BodegaTesting
import Foundation

/// Faults one after the other, in an order and at moments that follow from a seed.
///
/// Moments are counted in steps of the work that is disturbed, such as operations that have ended, and not in time, so that a
/// slow machine is disturbed as often as a fast one.
package struct FaultPlan: Sendable {
    private let faults: [Fault]
    private let rounds: Int
    private let distance: ClosedRange<Int>
    private let length: ClosedRange<Int>
    private let seed: UInt64

    /// Describes a plan.
    ///
    /// - Parameters:
    ///   - faults: What can go wrong. Each does, if there are as many rounds.
    ///   - seed: What the order and the moments follow from.
    ///   - rounds: How many faults there are one after the other.
    ///   - distance: How many steps are done before the next fault.
    ///   - length: How many steps are done, or fail, while a fault lasts; on a logarithmic scale, because some faults are
    ///     noticed by what fails at once, and others only by what waits for long.
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

    /// Lets the faults happen.
    ///
    /// - Parameters:
    ///   - patience: How long a fault or the pause before one lasts if there are no steps: a fault may keep all from being done.
    ///   - steps: Returns the number of steps that have been done.
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
