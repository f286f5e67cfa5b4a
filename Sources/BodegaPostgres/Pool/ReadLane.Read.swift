#if Postgres
import Bodega

extension ReadLane {

    /// A read under way.
    final class Read: @unchecked Sendable {
        // @unchecked because what changes is only reached under the lane's lock.
        let command: Command
        let deadline: PostgresDeadline
        /// Until when the server must say something, or the connection is taken for dead.
        let deadlineForProof: PostgresDeadline
        var continuation: UnsafeContinuation<QueryResult, any Error>?
        var wasCancelled = false
        var serverWasTold = false
        /// How often it was sent again because others on the connection stood in its way.
        var repeats = 0
        /// How often something had been received when it was sent.
        var receiptsBefore = 0

        /// - Parameter isFirstAttempt: Whether half of the time is to be left for another connection.
        init(_ command: Command, until deadline: PostgresDeadline, isFirstAttempt: Bool = false) {
            self.command = command
            self.deadline = deadline
            deadlineForProof = isFirstAttempt ? .after(deadline.remaining / 2) : deadline
        }

        var nextDeadline: PostgresDeadline { deadlineForProof.hasPassed ? deadline : deadlineForProof }
    }
}
#endif
