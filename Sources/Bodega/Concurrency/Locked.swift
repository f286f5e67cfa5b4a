import Foundation

/// A value that one thread at a time can reach.
///
/// `Synchronization.Mutex` does the same, but needs newer Apple systems than this package.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: Value

    /// Guards a value.
    package init(_ value: Value) {
        self.value = value
    }

    /// Runs a closure that may read and change the value while no other thread does.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
