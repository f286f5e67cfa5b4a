package import Foundation

/// How often a scan that runs in its caller's task suspends, and looks whether the task was cancelled.
///
/// Swift's executor has one thread per core. A task that does not suspend occupies one of them.
package struct ScanPace {
    private var items = 0
    private var bytes = 0

    package init() {}

    /// Counts an item before it is passed on. Every 128 items, and after fewer large ones, the task suspends.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    package mutating func count(_ data: Data) async throws {
        items += 1
        bytes += data.count
        guard items >= 128 || bytes >= 1 << 16 else { return }
        (items, bytes) = (0, 0)
        await Task.yield()
        try Task.checkCancellation()
    }
}
