import Foundation

/// A value that one thread at a time can reach, for engines in these tests.
final class TestLock<Value>: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
