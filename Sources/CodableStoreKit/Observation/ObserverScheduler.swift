public import Dispatch
import Foundation

/// Where an observer is called.
public enum ObserverScheduler: Sendable {

    /// On the main queue while the main run loop runs, as it does in every app; otherwise as ``immediate``.
    ///
    /// So an app can update its views in an observer, and a program without a main loop, or one that blocks its main thread
    /// while others save, gets its events all the same. A change that is made on the main thread is reported there before
    /// the save returns; for one that is made on another thread, the save does not wait for the main queue.
    case automatic

    /// On the thread that made the change, before the save returns, or on one that made another change at the same time.
    case immediate

    /// On a queue. The save does not wait for it. Also on a concurrent queue, an observer is called by one thread at a time.
    case queue(DispatchQueue)

    /// Where a call that is due on this thread has to go.
    var queue: DispatchQueue? {
        switch self {
        case .automatic: Thread.isMainThread || RunLoop.main.currentMode == nil ? nil : .main
        case .immediate: nil
        case .queue(let queue): queue
        }
    }
}
