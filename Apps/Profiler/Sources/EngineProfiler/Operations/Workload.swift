/// The calls of one worker for one operation.
///
/// A call times only the engine. Its item is chosen before, and its result is checked afterwards. Changes in the number
/// of items are undone between rounds.
protocol Workload: Sendable {

    /// The items of the worker.
    var share: Share { get }

    /// The number of items in each call.
    var itemsPerCall: Int { get }

    /// The number of calls after which the number of items must be restored.
    var callsPerRound: Int { get }

    /// Makes one call.
    ///
    /// - Parameter stopwatch: The stopwatch for the call.
    /// - Returns: The time of the call, in nanoseconds.
    /// - Throws: A ``CallFailure`` if the engine failed or returned a wrong result.
    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64

    /// Checks the changes since the last round, and restores the number of items.
    mutating func endRound() async throws
}

extension Workload {
    var itemsPerCall: Int { 1 }
    var callsPerRound: Int { .max }

    mutating func endRound() async throws {}
}

/// The number of calls that may change the number of items before it is restored: a tenth of the items, with a lower
/// limit.
func callsPerRound(items: Int, itemsPerCall: Int = 1) -> Int {
    max(1, min(10_000, max(100, items / 10)) / itemsPerCall)
}
