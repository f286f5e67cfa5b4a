import Bodega

/// A thread-safe counter.
package final class Counter: Sendable {
    private let value = Locked(0)

    package init() {}

    package var count: Int { value.withLock { $0 } }

    package func increment() {
        value.withLock { $0 += 1 }
    }
}
