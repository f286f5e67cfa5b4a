import Foundation

/// Collects what has changed until somebody looks: each kind of change once, however often it happened. So a browser that
/// is too slow or asleep costs nothing, and sees what is new when it is back.
final class Mailbox: Sendable {
    private let pending = Pending()
    private let bell = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Puts a change in.
    func post(_ change: Change) {
        pending.insert(change)
        bell.continuation.yield()
    }

    /// Takes no more changes. Whoever waits for some gets `nil`.
    func close() {
        bell.continuation.finish()
    }

    /// Waits for changes and takes them all out.
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
