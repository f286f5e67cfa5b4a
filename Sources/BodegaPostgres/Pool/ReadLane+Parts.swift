#if Postgres
import Bodega

extension ReadLane {

    /// What was sent, and is still to be answered.
    enum Slot {
        case preparation(String)
        case read(Read)
        case sync
    }

    /// The connection of a lane.
    struct Line {
        let session: Session
        let source: LaneSource
        var prepared: Set<String> = []
        /// How often something was received.
        var receipts = 0
        /// How often the server was asked to stop a read and has not been seen to.
        var cancellations = 0
    }

    /// A read under way.
    final class Read: @unchecked Sendable {
        // @unchecked because what changes is only reached under the lane's lock.
        let command: Command
        let deadline: PostgresDeadline
        private let isFirstAttempt: Bool
        /// Until when the server must send something, or the connection is taken for dead; `nil` before the read was sent.
        private(set) var deadlineForProof: PostgresDeadline?
        var continuation: UnsafeContinuation<QueryResult, any Error>?
        var wasCancelled = false
        var serverWasTold = false
        /// How often it was sent again because others on the connection stood in its way.
        var repeats = 0
        /// How often something had been received when it was sent.
        private(set) var receiptsBefore = 0

        /// - Parameter isFirstAttempt: Whether half of the time is to be left for another connection.
        init(_ command: Command, until deadline: PostgresDeadline, isFirstAttempt: Bool = false) {
            self.command = command
            self.deadline = deadline
            self.isFirstAttempt = isFirstAttempt
        }

        /// The next moment at which something may have to be done about it.
        var nextDeadline: PostgresDeadline {
            if let deadlineForProof, !deadlineForProof.hasPassed { deadlineForProof } else { deadline }
        }

        /// Takes note that it is sent.
        func demandProof(afterReceipts receipts: Int) {
            receiptsBefore = receipts
            deadlineForProof = isFirstAttempt ? .after(deadline.remaining / 2) : deadline
        }

        /// Whether nothing was received since it was sent, for so long that the connection is taken for dead.
        func seemsLost(afterReceipts receipts: Int) -> Bool {
            receiptsBefore == receipts && deadlineForProof?.hasPassed == true
        }
    }
}
#endif
