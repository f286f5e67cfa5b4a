import Foundation

/// Keeps objects that are costly to make for the next one who needs one.
final class Pool<Element: AnyObject>: @unchecked Sendable {
    // @unchecked because every access to `idle` holds `lock`, and an object that was taken out is its taker's alone.
    private let lock = NSLock()
    /// Initialised as long as the pool exists; behind a pointer, because the lock makes checks for exclusivity superfluous.
    private let idle: UnsafeMutablePointer<[Element]>
    private let capacity: Int

    /// Creates an empty pool.
    ///
    /// - Parameter capacity: How many objects it keeps at most.
    init(capacity: Int) {
        self.capacity = capacity
        idle = .allocate(capacity: 1)
        idle.initialize(to: [])
        idle.pointee.reserveCapacity(capacity)
    }

    deinit {
        idle.deinitialize(count: 1)
        idle.deallocate()
    }

    /// Takes an object out, if there is one.
    func take() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        return idle.pointee.popLast()
    }

    /// Puts back an object that nobody else refers to.
    func put(_ element: Element) {
        lock.lock()
        defer { lock.unlock() }
        if idle.pointee.count < capacity { idle.pointee.append(element) }
    }
}
