package import Dispatch
import Foundation
import Logging

/// Calls a closure when files may have changed, whoever has changed them.
///
/// The system tells of it where it can. Many events in a row are one call. What an event announces may be there only a
/// little later: SQLite's commit counts when the medium has it, and nothing tells of that. So calls follow each event after
/// 1, 2, 4 milliseconds and so on, and because some file systems don't tell everything, every two seconds in the end; where
/// the system tells nothing at all, every 40 milliseconds.
package final class FileWatch: Sendable {

    /// Makes what tells of changes, on a queue.
    package typealias MakeEvents =
        @Sendable (
            _ path: String, _ suffixes: [String], _ queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void
        ) throws -> any FileEvents

    /// Makes a timer that calls a closure on a queue.
    typealias MakeTimer =
        @Sendable (_ queue: DispatchQueue, _ fire: @escaping @Sendable () -> Void) -> any FileWatchTimer

    /// What a watch needs of the system.
    struct Surroundings: Sendable {
        var makeEvents = FileEventsOfSystem.make
        var makeTimer: MakeTimer = { FileWatchDispatchTimer(queue: $0, fire: $1) }
        /// How long, in milliseconds, to wait for an event in the end; `nil` for ever.
        var longestPause: Int? = 2_000
        /// The same where the system tells nothing.
        var longestPauseWithoutEvents = 40
    }

    /// How long to wait for the next event, in milliseconds: longer each time.
    struct Pauses: Sendable {
        private var last = 0
        private let longest: Int?

        /// The longest pause that becomes longer.
        private static let limit = 512

        init(longest: Int?) { self.longest = longest }

        /// There was an event.
        mutating func begin() { last = 0 }

        /// - Returns: `nil` for ever.
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
    private let queue = DispatchQueue(label: "emporium.bodega.files", qos: .userInitiated)
    private let changed: @Sendable () -> Void

    /// Begins to watch, as if there had just been an event.
    ///
    /// - Parameters:
    ///   - path: The path of a file.
    ///   - suffixes: What is behind the path in the names of the files that count.
    ///   - surroundings: What tells of changes, and of time.
    ///   - changed: Is called on a thread that may wait, until it is cancelled.
    init(
        of path: String,
        suffixes: [String],
        in surroundings: Surroundings = Surroundings(),
        changed: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        self.state = Locked(State(pauses: Pauses(longest: surroundings.longestPause)))
        // What counts is beside the file itself, not beside a symbolic link to it.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let timer = surroundings.makeTimer(queue) { [weak self] in self?.look() }
        state.withLock { $0.timer = timer }
        do {
            let events = try surroundings.makeEvents(path, suffixes, queue) { [weak self] in self?.told() }
            state.withLock { $0.events = events }
        } catch {
            bodegaLogger.notice(
                "The system does not tell of changes to a file, so it is looked at all the time.",
                metadata: ["file": "\(path)", "error": "\(error)"]
            )
            state.withLock { $0.pauses = Pauses(longest: surroundings.longestPauseWithoutEvents) }
        }
        wait()
    }

    deinit {
        cancel()
    }

    /// Begins to watch an SQLite file and what lies beside it.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - changed: Is called on a thread that may wait, until it is cancelled.
    package convenience init(of path: String, changed: @escaping @Sendable () -> Void) {
        self.init(of: path, suffixes: ["", "-wal", "-journal"], changed: changed)
    }

    /// Ends it. A call may still be under way.
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

    private func told() {
        state.withLock { $0.pauses.begin() }
        look()
    }

    private func look() {
        if state.withLock({ $0.isCancelled }) { return }
        changed()
        wait()
    }

    private func wait() {
        let (timer, pause) = state.withLock { state in (state.timer, state.pauses.next()) }
        timer?.schedule(after: pause)
    }
}

/// What tells of changes to files, on a queue, until it is cancelled. Between events it takes its time, so that a busy
/// folder does not keep a thread busy.
package protocol FileEvents: Sendable {
    /// Ends it, and gives back what it has of the system.
    func cancel()
}

/// How long events wait after others.
let fileEventsPause = DispatchTimeInterval.milliseconds(5)

/// Calls a closure once after a time.
protocol FileWatchTimer: Sendable {
    /// Forgets the time that was set before.
    ///
    /// - Parameter milliseconds: `nil` for never.
    func schedule(after milliseconds: Int?)

    /// Ends it.
    func cancel()
}

/// The timer of this system.
final class FileWatchDispatchTimer: FileWatchTimer, @unchecked Sendable {
    // @unchecked because sources are thread-safe.
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
