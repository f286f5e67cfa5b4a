import Foundation

/// Collects changes until the reader takes them, each kind of change once. The cost of a slow or sleeping browser is
/// therefore constant, and it gets all pending changes when it reads again.
final class Mailbox: Sendable {
    private let pending = Pending()
    private let bell = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Adds a change.
    func post(_ change: Change) {
        pending.insert(change)
        bell.continuation.yield()
    }

    /// Closes the mailbox. A waiting ``collect()`` returns `nil`.
    func close() {
        bell.continuation.finish()
    }

    /// Waits for changes and removes them from the mailbox.
    ///
    /// - Returns: The changes, `nil` when the mailbox is closed or the waiting task is cancelled.
    func collect() async -> Set<Change>? {
        for await _ in bell.stream {
            let changes = pending.takeAll()
            if !changes.isEmpty { return changes }
        }
        return nil
    }

    private final class Pending: @unchecked Sendable {
        // @unchecked because every access to `changes` holds `lock`.
        private let lock = NSLock()
        private var changes: Set<Change> = []

        func insert(_ change: Change) {
            lock.withLock { _ = changes.insert(change) }
        }

        func takeAll() -> Set<Change> {
            lock.withLock {
                defer { changes = [] }
                return changes
            }
        }
    }
}
