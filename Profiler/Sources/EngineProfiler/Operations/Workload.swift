/// Calls of one operation, by one worker.
///
/// A call times nothing but the engine; which item it is about is decided before and what came back is checked
/// afterwards. What a call changes in the number of items is put back between rounds.
protocol Workload: Sendable {

    /// The items that the calls are about.
    var share: Share { get }

    /// How many items a call handles.
    var itemsPerCall: Int { get }

    /// After how many calls the number of items must be restored.
    var callsPerRound: Int { get }

    /// Makes one call.
    ///
    /// - Parameter stopwatch: Times it.
    /// - Returns: What it took, in nanoseconds.
    /// - Throws: A ``CallFailure`` if the engine failed or was wrong.
    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64

    /// Checks what the calls since the last time have changed, and restores the number of items.
    mutating func endRound() async throws
}

extension Workload {
    var itemsPerCall: Int { 1 }
    var callsPerRound: Int { .max }

    mutating func endRound() async throws {}
}

/// How many calls may change the number of items before that is restored: a tenth of the items, so that what is
/// measured is that number, but some at least.
func callsPerRound(items: Int, itemsPerCall: Int = 1) -> Int {
    max(1, min(10_000, max(100, items / 10)) / itemsPerCall)
}
