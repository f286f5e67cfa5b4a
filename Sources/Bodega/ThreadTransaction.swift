import Foundation

/// A transaction in which the operations of one thread on one place take part.
///
/// 1. ``run(_:)`` makes it the transaction of the calling thread while a closure runs. The operations of the thread
///    find it with ``current``.
/// 2. They pass to ``afterwards(_:)`` what must not run inside of it, such as calling observers.
/// 3. ``end()`` runs that, after all locks of the transaction were released.
///
/// A task that the closure creates inherits it, but runs on another thread or later, so it does not find it.
package final class ThreadTransaction: @unchecked Sendable {
    // @unchecked because only its thread uses what changes.

    @TaskLocal private static var ofTask: ThreadTransaction?

    /// What the transaction has locked, such as a file.
    package let place: AnyObject
    /// What the place knows about it.
    package let details: AnyObject
    private let thread = Thread.current
    private var hasEnded = false
    private var calls: [() -> Void] = []

    /// Creates the transaction of the calling thread.
    ///
    /// - Parameters:
    ///   - place: What the transaction has locked.
    ///   - details: What the place knows about it, which only this thread uses.
    package init(of place: AnyObject, _ details: AnyObject) { (self.place, self.details) = (place, details) }

    /// The transaction of the calling thread, `nil` outside of one.
    package static var current: ThreadTransaction? {
        guard let transaction = ofTask, transaction.thread === Thread.current, !transaction.hasEnded else { return nil }
        return transaction
    }

    /// Checks that the calling thread may use a place, or change it.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` in a transaction over another place. A change would not be
    ///   undone with it, and two threads could wait for each other.
    package static func checkUse(of place: AnyObject) throws {
        guard let current, current.place !== place else { return }
        throw StorageError(
            .invalidArgument,
            """
            A transaction can't change another location than its own, nor use a custom engine: what they store would \
            not be undone with it. Use stores of one location in it, or use the other store before or after it.
            """)
    }

    /// Runs a closure in the transaction.
    package func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try Self.$ofTask.withValue(self, operation: body)
    }

    /// Adds a closure that runs when the transaction has ended, whether it was committed or not.
    package func afterwards(_ call: @escaping () -> Void) { calls.append(call) }

    /// Ends the transaction, whose locks are released. It may have ended before.
    package func end() {
        hasEnded = true
        let calls = calls
        self.calls = []
        for call in calls { call() }
    }
}
