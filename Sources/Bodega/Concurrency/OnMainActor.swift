import Dispatch
import Foundation

/// Runs work on the main actor: immediately if the caller is on it, otherwise asynchronously.
package func onMainActor(_ work: @escaping @MainActor @Sendable () -> Void) {
    if MainQueue.isCurrent {
        MainActor.assumeIsolated(work)
    } else {
        Task { @MainActor in work() }
    }
}

/// The queue of the main actor.
///
/// It need not run on the main thread: outside Apple's platforms, other threads serve the main queue once an
/// asynchronous program runs.
private enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true
    }
}
