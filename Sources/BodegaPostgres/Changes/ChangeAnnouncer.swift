#if Postgres
import Bodega
import Logging

/// Notifies the listeners of a database that collections have changed, after the changes were committed.
///
/// A notification in the transaction would need no second statement, but the server commits only one transaction with a
/// notification at a time, so writers would wait for each other's disks. Announcements are asynchronous instead:
///
/// 1. A committed write adds its collections to `collections`. If no task is sending, it starts one.
/// 2. The task takes all collections and notifies their listeners in one statement.
/// 3. It repeats that for the collections that were added in the meantime, until there are none.
/// 4. Then it resumes the callers of `finish`.
///
/// The lock of `state` guards all mutable state. If the program ends before step 2, or the statement fails, listeners
/// find the change when they poll, see ``ChangeListener``.
final class ChangeAnnouncer: Sendable {

    static let channel = "emporium_changes"

    private struct State {
        var collections: Set<Int32> = []
        var isSending = false
        /// The callers of `finish`.
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    private let pool: SessionPool
    private let state = Locked(State())

    init(pool: SessionPool) { self.pool = pool }

    func announce(changesOf collections: Set<Int32>) {
        let mustSend = state.withLock { state in
            state.collections.formUnion(collections)
            defer { state.isSending = true }
            return !state.isSending
        }
        if mustSend { Task { await sendAll() } }
    }

    /// Waits until all changes are announced.
    func finish() async {
        await withUnsafeContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isSending { state.waiters.append(continuation) }
                return !state.isSending
            }
            if isDone { continuation.resume() }
        }
    }

    private func sendAll() async {
        while let collections = next() {
            let command = Command(Self.statement, BinaryArray(collections.map(Int64.init)))
            do {
                try await pool.withSession { _ = try await $0.run(command) }
            } catch {
                bodegaLogger.debug(
                    "A change could not be announced. Listeners find it when they poll.",
                    metadata: ["error": "\(error)"])
            }
        }
    }

    private func next() -> Set<Int32>? {
        let (collections, waiters): (Set<Int32>?, [UnsafeContinuation<Void, Never>]) = state.withLock { state in
            defer { state.collections = [] }
            if !state.collections.isEmpty { return (state.collections, []) }
            state.isSending = false
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return collections
    }

    /// Commits without waiting for the disk or a standby, as the announced change is already durable.
    private static let statement = Statement(
        "emporium_announce",
        """
        SELECT set_config('synchronous_commit', 'off', true), count(pg_notify('\(channel)', c::text))
        FROM unnest($1::bigint[]) AS c
        """)
}
#endif
