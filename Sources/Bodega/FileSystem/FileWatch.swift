import Dispatch
import Foundation
import Logging

/// Calls a closure when files may have changed, whoever has changed them.
///
/// The system tells of it where it can. Many events in a row are one call. Because some file systems don't tell everything,
/// there is a call every two seconds too; where the system tells nothing at all, every 40 milliseconds.
package final class FileWatch: Sendable {

    /// Makes what tells of changes, on a queue, and whether one of the files is concerned.
    typealias MakeEvents =
        @Sendable (
            _ path: String, _ suffixes: [String], _ queue: DispatchQueue, _ tell: @escaping @Sendable (Bool) -> Void
        ) throws -> any FileEvents

    /// How long further events wait after one, so that a busy folder does not keep a thread busy.
    private static let pause = DispatchTimeInterval.milliseconds(5)

    private struct State {
        var events: (any FileEvents)?
        var timer: (any DispatchSourceTimer)?
        var isCancelled = false
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "emporium.bodega.files", qos: .userInitiated)
    private let changed: @Sendable () -> Void

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - path: The path of a file.
    ///   - suffixes: What is behind the path in the names of the files that count.
    ///   - makeEvents: Makes what tells of changes.
    ///   - changed: Is called on a thread that may wait, until it is cancelled.
    init(
        of path: String,
        suffixes: [String],
        makeEvents: MakeEvents = FileEventsOfSystem.make,
        changed: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        // What counts is beside the file itself, not beside a symbolic link to it.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var interval = DispatchTimeInterval.seconds(2)
        do {
            let events = try makeEvents(path, suffixes, queue) { [weak self] counts in self?.told(counts) }
            state.withLock { $0.events = events }
        } catch {
            bodegaLogger.notice(
                "The system does not tell of changes to a file, so it is looked at all the time.",
                metadata: ["file": "\(path)", "error": "\(error)"]
            )
            interval = .milliseconds(40)
        }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(5))
        timer.setEventHandler { [weak self] in self?.look() }
        state.withLock { $0.timer = timer }
        timer.activate()
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

    private func told(_ counts: Bool) {
        let events = state.withLock { $0.events }
        guard let events else { return }
        events.pause()
        if counts { look() }
        queue.asyncAfter(deadline: .now() + Self.pause) { events.resume() }
    }

    private func look() {
        if state.withLock({ $0.isCancelled }) { return }
        changed()
    }
}

/// What tells of changes to files, on a queue.
protocol FileEvents: Sendable {
    /// Tells nothing until ``resume()``, which tells what came meanwhile. Only on the queue.
    func pause()

    /// Goes on after ``pause()``. Only on the queue.
    func resume()

    /// Ends it, and gives back what it has of the system, paused or not.
    func cancel()
}
