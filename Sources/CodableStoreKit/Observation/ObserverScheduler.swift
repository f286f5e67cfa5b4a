public import Dispatch
import Foundation

/// The thread or queue on which an observer is called.
public enum ObserverScheduler: Sendable {

    /// Calls the observer on the main queue while its run loop runs, as in an app, otherwise like ``immediate``.
    ///
    /// So an app can update its views in an observer, while a program that has no main run loop, or that blocks its
    /// main thread, still receives events. If a change is made on the main thread, the observer is called before the
    /// save returns. If it is made on another thread, the save does not wait for the main queue.
    ///
    /// The loop of an app always runs. `RunLoop.main.run()` in a command-line program runs it in rounds, and it does
    /// not run between two of them: pass `.queue(.main)` where the observer must be on the main queue.
    case automatic

    /// Calls the observer on the thread that made the change, before the save returns, or on one making another change.
    case immediate

    /// Calls the observer on a queue. The save does not wait for it. Even on a concurrent queue, calls do not overlap.
    case queue(DispatchQueue)

    /// The queue to dispatch a call to, `nil` to call the observer on the current thread.
    var queue: DispatchQueue? {
        switch self {
        case .automatic: Thread.isMainThread || RunLoop.main.currentMode == nil ? nil : .main
        case .immediate: nil
        case .queue(let queue): queue
        }
    }
}
