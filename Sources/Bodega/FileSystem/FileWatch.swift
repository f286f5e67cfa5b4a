package import Dispatch
import Foundation
import Logging

/// Calls a closure when files may have changed, regardless of which process changed them.
///
/// 1. The system reports an event, which resets the pauses, or the timer fires.
/// 2. `changed` is called, unless the watch was cancelled.
/// 3. The timer is set to the next pause: 1, 2, 4 milliseconds and so on, and in the end every two seconds.
///
/// Calls go on after an event because an SQLite commit becomes visible only when it is on disk, which no event reports,
/// and because some file systems omit events. Where the system reports none, the longest pause is 40 milliseconds.
///
/// All steps run on `queue`, except for the first pause and ``cancel()``, which run on the caller's thread. `state` is
/// guarded by its lock, which is never held while `changed` runs.
package final class FileWatch: Sendable {

    /// Starts a source of events, which calls a closure on a queue.
    package typealias MakeEvents =
        @Sendable (
            _ path: String, _ suffixes: [String], _ queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void
        ) throws -> any FileEvents

    /// Makes a timer that calls a closure on a queue.
    package typealias MakeTimer =
        @Sendable (_ queue: DispatchQueue, _ fire: @escaping @Sendable () -> Void) -> any FileWatchTimer

    /// The system's services that a watch uses.
    package struct Surroundings: Sendable {
        package var makeEvents = FileEventsOfSystem.make
        package var makeTimer: MakeTimer = { FileWatchDispatchTimer(queue: $0, fire: $1) }
        /// Maximum pause between calls, in milliseconds; `nil` to stop calling after the last doubled pause.
        var longestPause: Int?
        /// Maximum pause where the system reports no events.
        var longestPauseWithoutEvents = 40

        package init(longestPause: Int? = 2_000) { self.longestPause = longestPause }
    }

    /// The pauses between calls, in milliseconds. Each is twice the previous one.
    struct Pauses: Sendable {
        private var last = 0
        private let longest: Int?

        /// The last doubled pause.
        private static let limit = 512

        init(longest: Int?) { self.longest = longest }

        /// Starts again with the shortest pause, after an event.
        mutating func begin() { last = 0 }

        /// - Returns: `nil` if no call follows without an event.
        mutating func next() -> Int? {
            last = max(last * 2, 1)
            if last <= min(longest ?? Self.limit, Self.limit) { return last }
            last = Self.limit
            return longest
        }
    }

    private struct State {
        var events: (any FileEvents)?
        var timer: (any FileWatchTimer)?
        var pauses: Pauses
        var isCancelled = false
    }

    private let state: Locked<State>
    private let queue = DispatchQueue(label: "emporium.bodega.files", qos: .fileEvents)
    private let changed: @Sendable () -> Void

    /// Starts to watch, as if there had just been an event.
    ///
    /// - Parameters:
    ///   - path: The path of a file.
    ///   - suffixes: The suffixes that, appended to the path, give the files to watch.
    ///   - surroundings: The sources of events and time.
    ///   - changed: Is called on a thread that may block, until the watch is cancelled.
    package init(
        of path: String,
        suffixes: [String],
        in surroundings: Surroundings = Surroundings(),
        changed: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        self.state = Locked(State(pauses: Pauses(longest: surroundings.longestPause)))
        // The files to watch are beside the file itself, not beside a symbolic link to it.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let timer = surroundings.makeTimer(queue) { [weak self] in self?.notify() }
        state.withLock { $0.timer = timer }
        do {
            let events = try surroundings.makeEvents(path, suffixes, queue) { [weak self] in self?.handleEvent() }
            state.withLock { $0.events = events }
        } catch {
            bodegaLogger.log(
                level: error.isOfEndedTest ? .debug : .notice,
                "The system does not report changes to a file, so the file is polled.",
                metadata: ["file": "\(path)", "error": "\(error)"]
            )
            state.withLock { $0.pauses = Pauses(longest: surroundings.longestPauseWithoutEvents) }
        }
        setTimer()
    }

    deinit {
        cancel()
    }

    /// Starts to watch an SQLite file, its write-ahead log and its rollback journal.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - changed: Is called on a thread that may block, until the watch is cancelled.
    package convenience init(of path: String, changed: @escaping @Sendable () -> Void) {
        self.init(of: path, suffixes: ["", "-wal", "-journal"], changed: changed)
    }

    /// Ends the watch. A call may still be running.
    package func cancel() {
        let (events, timer) = state.withLock { state in
            defer {
                state.events = nil
                state.timer = nil
            }
            state.isCancelled = true
            return (state.events, state.timer)
        }
        timer?.cancel()
        events?.cancel()
    }

    private func handleEvent() {
        state.withLock { $0.pauses.begin() }
        notify()
    }

    private func notify() {
        if state.withLock({ $0.isCancelled }) { return }
        changed()
        setTimer()
    }

    private func setTimer() {
        let (timer, pause) = state.withLock { state in (state.timer, state.pauses.next()) }
        timer?.schedule(after: pause)
    }
}

/// A cancellable source of file events. It pauses between events, so that a busy folder does not keep a thread busy.
package protocol FileEvents: Sendable {
    /// Ends the source and releases its system resources.
    func cancel()
}

extension DispatchQoS {
    /// That of queues whose work a person may wait for. On Linux only root may raise priorities, and Dispatch would
    /// report each refusal to the system's log.
    static var fileEvents: DispatchQoS {
        #if os(Linux) || os(Android)
        .default
        #else
        .userInitiated
        #endif
    }
}

/// Minimum pause between events.
let fileEventsPause = DispatchTimeInterval.milliseconds(5)

/// A timer that calls a closure once.
package protocol FileWatchTimer: Sendable {
    /// Sets the time of the call, replacing the previous one.
    ///
    /// - Parameter milliseconds: The pause before the call; `nil` for no call.
    func schedule(after milliseconds: Int?)

    /// Ends the timer.
    func cancel()
}

/// A timer of Dispatch.
final class FileWatchDispatchTimer: FileWatchTimer, @unchecked Sendable {
    // @unchecked because Dispatch sources are thread-safe.
    private let source: any DispatchSourceTimer

    init(queue: DispatchQueue, fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: fire)
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func schedule(after milliseconds: Int?) {
        guard let milliseconds else { return source.schedule(deadline: .distantFuture) }
        source.schedule(deadline: .now() + .milliseconds(milliseconds), leeway: .microseconds(milliseconds * 50))
    }

    func cancel() {
        source.cancel()
    }
}
