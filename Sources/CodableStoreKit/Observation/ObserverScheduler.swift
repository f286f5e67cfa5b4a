import Bodega
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
    /// The loop of an app always runs. `RunLoop.main.run()` in a command-line program runs it in rounds, and between
    /// two of them, the loop does not differ from one that has ended. So once it has run, the observer is called
    /// elsewhere only if the main queue has not called it for a quarter of a second.
    case automatic

    /// Calls the observer on the thread that made the change, before the save returns, or on one making another change.
    case immediate

    /// Calls the observer on a queue. The save does not wait for it. Even on a concurrent queue, calls do not overlap.
    case queue(DispatchQueue)

    /// Where to call an observer.
    enum Place {
        case currentThread
        case queue(DispatchQueue)
        /// The main queue, and another one if the main queue does not call the observer for some time.
        case mainQueueUnlessBlocked
    }

    var place: Place {
        switch self {
        case .automatic: MainLoop.place
        case .immediate: .currentThread
        case .queue(let queue): .queue(queue)
        }
    }
}

/// The run loop of the main thread.
private enum MainLoop {

    private static let hasRun = Locked(false)

    static var place: ObserverScheduler.Place {
        let isRunning = RunLoop.main.currentMode != nil
        let hasRun = hasRun.withLock { hasRun in
            hasRun = hasRun || isRunning
            return hasRun
        }
        if Thread.isMainThread { return .currentThread }
        return isRunning ? .queue(.main) : hasRun ? .mainQueueUnlessBlocked : .currentThread
    }
}
