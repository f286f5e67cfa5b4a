#if Postgres
import Bodega

extension ReadLane {

    /// The connection of a lane.
    struct Line {
        let session: Session
        let sources: SocketSources
        var pipeline = Pipeline<Read>()
        /// The number of times input was received.
        var receipts = 0
        /// The number of cancellation requests without an observed effect.
        var cancellations = 0
    }

    /// A read in progress.
    ///
    /// @unchecked because mutable state is only accessed under the lane's lock.
    final class Read: @unchecked Sendable {
        let command: Command
        let deadline: PostgresDeadline
        private let isFirstAttempt: Bool
        /// The deadline for any input from the server; `nil` before the read was sent.
        private(set) var deadlineForProof: PostgresDeadline?
        var continuation: UnsafeContinuation<QueryResult, any Error>?
        var wasCancelled = false
        var requestedCancellation = false
        /// The number of times it was sent again because other reads made it fail.
        var repeats = 0
        /// The lane's receipts when the read was sent.
        private(set) var receiptsBefore = 0

        /// - Parameter isFirstAttempt: Whether to keep half of the time for an attempt on another connection.
        init(_ command: Command, until deadline: PostgresDeadline, isFirstAttempt: Bool = false) {
            self.command = command
            self.deadline = deadline
            self.isFirstAttempt = isFirstAttempt
        }

        /// The next deadline at which to check the read.
        var nextDeadline: PostgresDeadline {
            if let deadlineForProof, !deadlineForProof.hasPassed { deadlineForProof } else { deadline }
        }

        /// Sets the deadline for any input. Call it when the read is sent.
        func demandProof(afterReceipts receipts: Int) {
            receiptsBefore = receipts
            deadlineForProof = isFirstAttempt ? .after(deadline.remaining / 2) : deadline
        }

        /// Whether the connection has received nothing since the read was sent, and the deadline for input has passed.
        func seemsLost(afterReceipts receipts: Int) -> Bool {
            receiptsBefore == receipts && deadlineForProof?.hasPassed == true
        }
    }
}
#endif
