import Bodega
import Dispatch
import Foundation

/// A job that runs soon after it was requested, once for all requests until then.
final class DelayedJob: Sendable {

    /// Calls a closure later, on a thread that may block.
    typealias Delay = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    private let delay: Delay
    private let state = Locked(false)

    init(_ delay: @escaping Delay) { self.delay = delay }

    /// Whether the job was requested and has not begun.
    var isRequested: Bool { state.withLock { $0 } }

    /// Requests the job, unless it is requested already.
    func request(_ job: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { isRequested in
            defer { isRequested = true }
            return !isRequested
        }
        guard isFirst else { return }
        delay { [self] in
            // Before the job begins: what is requested from now on is not a part of it.
            state.withLock { $0 = false }
            job()
        }
    }

    /// Half of the second within which a change is to be on disk; the other half is for the disk.
    static let halfASecond: Delay = { job in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { WorkerThreads.shared.run(job) }
    }
}
