#if Server
import Bodega

/// The space on disk that answers which clients have not read may use together.
final class AnswerFileSpace: Sendable {
    private struct State {
        var total = 0
        var byClient: [ExactText: Int] = [:]
    }

    private let used = Locked(State())
    private let limits: StorageServerLimits
    private let metrics: StorageServerMetrics?

    init(_ limits: StorageServerLimits, _ metrics: StorageServerMetrics?) {
        (self.limits, self.metrics) = (limits, metrics)
    }

    /// The number of bytes in use.
    var count: Int { used.withLock { $0.total } }

    /// Takes space for bytes of a client.
    func take(_ count: Int, for client: ExactText) throws {
        let error = used.withLock { used -> StorageError? in
            let own = used.byClient[client, default: 0]
            guard count <= limits.answerFileBytes - own else {
                return StorageError(
                    .tooLarge,
                    """
                    The answers that this client has not read are larger than \(limits.answerFileBytes) bytes, the \
                    limit. Read them first, or ask for less.
                    """)
            }
            guard count <= limits.totalAnswerFileBytes - used.total else {
                return StorageError(.storageFull, "The answers that clients have not read use all space for them.")
            }
            (used.total, used.byClient[client]) = (used.total + count, own + count)
            return nil
        }
        if let error {
            metrics?.refused(.answerFiles)
            throw error
        }
    }

    /// Gives space of a client back.
    func giveBack(_ count: Int, of client: ExactText) {
        guard count > 0 else { return }
        used.withLock { used in
            used.total -= count
            let own = used.byClient[client, default: 0] - count
            used.byClient[client] = own == 0 ? nil : own
        }
    }
}
#endif
