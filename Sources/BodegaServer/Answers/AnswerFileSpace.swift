#if Server
import Bodega

/// The space on disk that answers which clients have not read may use together.
final class AnswerFileSpace: Sendable {
    private let used = Locked(0)
    private let maximum: Int
    private let metrics: StorageServerMetrics?

    init(maximum: Int, _ metrics: StorageServerMetrics?) { (self.maximum, self.metrics) = (maximum, metrics) }

    /// The number of bytes in use.
    var count: Int { used.withLock { $0 } }

    /// Takes space for bytes.
    func take(_ count: Int) throws {
        let isFree = used.withLock { used in
            guard count <= maximum - used else { return false }
            used += count
            return true
        }
        guard isFree else {
            metrics?.refused(.answerFiles)
            throw StorageError(.storageFull, "The answers that clients have not read use all space for them.")
        }
    }

    /// Gives space back.
    func giveBack(_ count: Int) { used.withLock { $0 -= count } }
}
#endif
