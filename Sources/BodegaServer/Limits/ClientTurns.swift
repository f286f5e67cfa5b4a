#if Server
import Bodega

/// Limits how many reads of each client run at the same time, so that those of one don't hold up those of others.
final class ClientTurns: Sendable {
    private struct Turns {
        let lock: AsyncLock
        /// The number of reads that run or wait.
        var count = 0
    }

    private let turns = Locked<[ExactText: Turns]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    /// Waits until the client may read, and reads.
    func run<Value>(for client: StorageClient, _ body: () async throws -> Value) async throws -> Value {
        let id = ExactText(client.id)
        let lock = turns.withLock { turns in
            var own = turns[id] ?? Turns(lock: AsyncLock(holders: limit))
            own.count += 1
            turns[id] = own
            return own.lock
        }
        defer {
            turns.withLock { turns in
                turns[id]?.count -= 1
                if turns[id]?.count == 0 { turns[id] = nil }
            }
        }
        return try await lock.withLock(body)
    }
}
#endif
