/// Makes operations that never wait suspend their tasks now and then, so that other tasks run beside a loop of them.
///
/// Swift's executor has one thread per core, and a task that does not suspend occupies one of them. So on each core a
/// loop like `while try await storage.object(forKey: key) == nil {}` would keep all other tasks from running, among
/// them the one that stores the object.
final class TaskPace: Sendable {
    private let operations = Locked(0)

    /// Counts an operation on its caller's thread, and suspends the task at each 64th.
    func count() async {
        let mustSuspend = operations.withLock { operations in
            operations = (operations + 1) % 64
            return operations == 0
        }
        if mustSuspend { await Task.yield() }
    }
}
