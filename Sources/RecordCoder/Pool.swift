import Foundation

/// Keeps objects that are costly to make for the next one who needs one.
final class Pool<Element: AnyObject>: @unchecked Sendable {
    // @unchecked because every access to `idle` holds `lock`, and an object that was taken out is its taker's alone.
    private let lock = NSLock()
    private var idle: [Element] = []
    private let capacity: Int

    /// Creates an empty pool.
    ///
    /// - Parameter capacity: How many objects it keeps at most.
    init(capacity: Int) {
        self.capacity = capacity
        idle.reserveCapacity(capacity)
    }

    /// Takes an object out, if there is one.
    func take() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        return idle.popLast()
    }

    /// Puts back an object that nobody else refers to.
    func put(_ element: Element) {
        lock.lock()
        defer { lock.unlock() }
        if idle.count < capacity { idle.append(element) }
    }
}
