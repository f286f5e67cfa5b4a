import Foundation

/// Keeps objects that are costly to make for the next one who needs one.
final class Pool<Element: AnyObject>: @unchecked Sendable {
    // @unchecked because every access to `slots` and `count` holds `lock`, and an object that was taken out is its
    // taker's alone. They lie behind pointers, as the variables of a class would be checked for exclusive access.
    private let lock = NSLock()
    /// Room for `capacity` objects, of which the first `count` slots hold one; all are initialized.
    private let slots: UnsafeMutablePointer<Element?>
    private let count: UnsafeMutablePointer<Int>
    private let capacity: Int

    /// Creates an empty pool.
    ///
    /// - Parameter capacity: How many objects it keeps at most.
    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: nil, count: capacity)
        count = .allocate(capacity: 1)
        count.initialize(to: 0)
    }

    deinit {
        slots.deinitialize(count: capacity)
        slots.deallocate()
        count.deallocate()
    }

    /// Takes an object out, if there is one.
    func take() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        guard count.pointee > 0 else { return nil }
        count.pointee &-= 1
        // In bounds: 0 <= count < capacity.
        return (slots + count.pointee).pointee.take()
    }

    /// Puts back an object that nobody else refers to, not even the caller any more: who takes it may rely on that.
    func put(_ element: consuming Element) {
        lock.lock()
        defer { lock.unlock() }
        guard count.pointee < capacity else { return }
        // In bounds: count < capacity.
        (slots + count.pointee).pointee = element
        count.pointee &+= 1
    }
}
