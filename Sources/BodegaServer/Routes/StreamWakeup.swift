#if Server
import Bodega
import Foundation

/// Wakes the task of a stream of events. Reasons that the task has not taken yet are one set.
final class StreamWakeup: Sendable {
    /// Why a stream is woken.
    struct Reasons: OptionSet {
        let rawValue: UInt8
        /// The collection may have changed.
        static let changes = Reasons(rawValue: 1 << 0)
        /// The right of the client may have ended.
        static let access = Reasons(rawValue: 1 << 1)
        /// A heartbeat is due.
        static let time = Reasons(rawValue: 1 << 2)
        /// The client is gone, or the server stops. It stays.
        static let end = Reasons(rawValue: 1 << 3)
    }

    private struct State {
        var reasons: Reasons = [.changes, .access]
        var task: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// When the right of the client ends; `nil` if it does not.
    let expiresAt: Date?

    /// Creates a wakeup that wakes immediately, for what has changed before it.
    init(expiresAt: Date?) { self.expiresAt = expiresAt }

    func wake(_ reasons: Reasons) {
        let task = state.withLock { state in
            state.reasons.formUnion(reasons)
            defer { state.task = nil }
            return state.task
        }
        task?.resume()
    }

    /// Waits for reasons, and takes them. Only one task may call this. Its cancellation is a reason to end.
    func next() async -> Reasons {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.reasons.isEmpty { return true }
                    state.task = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake(.end)
        }
        return state.withLock { state in
            defer { state.reasons.formIntersection(.end) }
            return state.reasons
        }
    }
}
#endif
