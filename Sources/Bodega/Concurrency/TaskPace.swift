/// Makes operations that never wait suspend their tasks now and then, so that other tasks run beside a loop of them.
///
/// Swift's executor has one thread per core, and a task that does not suspend occupies one of them. So on each core a
/// loop like `while try await storage.object(forKey: key) == nil {}` would keep all other tasks from running, among
/// them the one that stores the object.
final class TaskPace: Sendable {
    private let operations = Locked(0)
    private let limit: Int

    /// - Parameter limit: The number of operations after which a task is suspended. A suspension takes some ten
    ///   microseconds, so shorter operations have a higher limit.
    init(_ limit: Int = 64) { self.limit = limit }

    /// Counts operations on their caller's thread, and suspends the task at the limit.
    func count(_ number: Int = 1) async {
        let mustSuspend = operations.withLock { operations in
            operations += number
            if operations < limit { return false }
            operations = 0
            return true
        }
        if mustSuspend { await Task.yield() }
    }
}
