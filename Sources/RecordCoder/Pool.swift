import Foundation

/// A pool of idle objects that are expensive to make.
final class Pool<Element: AnyObject>: @unchecked Sendable {
    // @unchecked because each access to `slots` and `count` holds `lock`, and the pool keeps no reference to a returned
    // object. Both are behind pointers, because Swift checks each access to a class's variable for exclusivity.
    private let lock = NSLock()
    /// Memory for `capacity` initialized slots, of which the first `count` hold an object.
    private let slots: UnsafeMutablePointer<Element?>
    private let count: UnsafeMutablePointer<Int>
    private let capacity: Int

    /// Creates an empty pool.
    ///
    /// - Parameter capacity: The maximum number of objects.
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

    /// Removes and returns an object, if there is one.
    func take() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        guard count.pointee > 0 else { return nil }
        count.pointee &-= 1
        // In bounds: 0 <= count < capacity.
        return (slots + count.pointee).pointee.take()
    }

    /// Adds an object to which no other reference exists.
    func put(_ element: consuming Element) {
        lock.lock()
        defer { lock.unlock() }
        guard count.pointee < capacity else { return }
        // In bounds: count < capacity.
        (slots + count.pointee).pointee = element
        count.pointee &+= 1
    }
}
