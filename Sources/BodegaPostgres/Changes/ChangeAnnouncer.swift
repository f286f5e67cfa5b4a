#if Postgres
import Bodega
import Logging

/// Tells those who listen that a collection has changed, after the change was committed.
///
/// A notification that is part of the transaction would need no second statement, but the server lets only one such
/// transaction commit at a time, so that writers would wait for each other's disks. This one costs them nothing, and
/// there is at most one under way: those that come up meanwhile are one. If the program ends before it is sent,
/// listeners find the change when they next look, see ``ChangeListener``.
final class ChangeAnnouncer: Sendable {

    static let channel = "emporium_changes"

    private struct State {
        var collections: Set<Int32> = []
        var isSending = false
        /// Those who wait until everything is announced.
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    private let pool: SessionPool
    private let timeout: Double
    private let state = Locked(State())

    init(pool: SessionPool, timeout: Double) {
        self.pool = pool
        self.timeout = timeout
    }

    func announce(changeOf collection: Int32) {
        let mustSend = state.withLock { state in
            state.collections.insert(collection)
            defer { state.isSending = true }
            return !state.isSending
        }
        if mustSend { Task { await sendAll() } }
    }

    /// Waits until everything is announced that was to be.
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
            var parameters = Parameters()
            parameters.appendArray(of: .int8, collections) { $0.append(Int64($1)) }
            let command = Command(Self.statement, parameters)
            do {
                try await pool.withSession(until: .after(timeout)) { session in
                    _ = try await session.run(command, patience: timeout)
                }
            } catch {
                bodegaLogger.debug("A change was not announced.", metadata: ["error": "\(error)"])
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

    /// Waits for no disk and no standby: what is announced is safe already.
    private static let statement = Statement(
        "emporium_announce",
        """
        SELECT set_config('synchronous_commit', 'off', true), count(pg_notify('\(channel)', c::text))
        FROM unnest($1::bigint[]) AS c
        """
    )
}
#endif
