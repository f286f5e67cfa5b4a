import Foundation

/// A value guarded by a lock.
///
/// `Synchronization.Mutex` does the same, but requires newer Apple platforms than this package.
///
/// The value must not be a function, nor an optional or tuple with one: ``withLock(_:)`` passes the value `inout` to
/// generic code, and each time Swift wraps a function in two more functions, which are called one in the other. Put the
/// function into a structure. Builds for debugging check this.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: Value

    /// Creates a lock with the value that it guards.
    package init(_ value: Value) {
        assert(!Self.grows, "A \(Value.self) in a lock grows with each access. Put the function into a structure.")
        self.value = value
    }

    /// Whether each access wraps a function in the value again.
    package static var grows: Bool {
        var name = "\(Value.self)"[...]
        while name.hasPrefix("Optional<") { name = name.dropFirst(9) }
        // Of other generic types, "<" comes first: `Array<() -> ()>` has one form in all code.
        return name.contains("->") && name.first { $0 == "(" || $0 == "<" } == "("
    }

    /// Runs a closure with exclusive access to the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
