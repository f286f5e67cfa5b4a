import Foundation

/// A value guarded by a lock.
///
/// `Synchronization.Mutex` does the same, but requires newer Apple platforms than this package.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: Value

    /// Creates a lock with the value that it guards.
    package init(_ value: Value) {
        self.value = value
    }

    /// Runs a closure with exclusive access to the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
