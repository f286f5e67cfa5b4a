package import Logging

/// Keeps a reader of changes up to date: each signal makes it catch up, and a failed attempt is retried.
///
///      engine's signals ──► listener ──┐
///      catchUp() ──────────────────────┼──► marks (at most 1) ──► loop ──► attempt
///      timer after a failure ──────────┘                                     │
///            ▲───────────────────────── fails ◄──────────────────────────────┘
///
/// 1. ``follow(_:ended:)`` starts a task that turns each signal of an engine into a mark. A later call replaces that
///    task.
/// 2. ``catchUp()`` adds a mark, too. Marks that the loop has not taken yet are one.
/// 3. The loop, one task, takes a mark and runs the attempt, so attempts never overlap.
/// 4. An attempt that throws is logged, as a warning once for each cause, and a timer adds the next mark: after 100 ms,
///    then after twice as long each time, at most a minute. A mark that comes earlier cuts the wait short.
/// 5. `StorageError.Code.readOnly` is not retried: an engine that is read-only and has no log gets one from another
///    process, which the engine signals. Nor is `closed`: a closed engine has no more changes.
/// 6. After `suspended`, the loop waits for the end of the suspension.
/// 7. The loop ends with the follower. The attempt must not hold the follower's owner.
///
/// The lock of `tasks` guards which tasks run. All other state is local to the loop.
package final class ChangeFollower: Sendable {

    private struct Tasks {
        var loop: Task<Void, Never>?
        var listener: Task<Void, Never>?
        var haveEnded = false
    }

    private let marks: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let tasks = Locked(Tasks())

    /// Creates a follower. It does nothing before ``begin(_:logger:_:)``.
    package init() {
        marks = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { end() }

    /// Starts the loop.
    ///
    /// - Parameters:
    ///   - reader: The reader, as it is named in logs.
    ///   - logger: The logger for failures.
    ///   - attempt: Reads what has changed and shows it.
    package func begin(_ reader: String, logger: Logger, _ attempt: @escaping @Sendable () async throws -> Void) {
        let (stream, continuation) = marks
        tasks.withLock { tasks in
            tasks.loop = Task {
                var backoff = Backoff()
                var failure: StorageError.Code?
                for await _ in stream {
                    backoff.cancel()
                    do {
                        try await attempt()
                        (backoff, failure) = (Backoff(), nil)
                    } catch  where Task.isCancelled {
                        break
                    } catch let error as StorageError where error.code == .suspended {
                        do { try await LockHolders.shared.waitUntilResumed() } catch { break }
                        continuation.yield()
                    } catch let error as StorageError where error.code == .readOnly || error.code == .closed {
                        logger.debug(
                            "Changes could not be read. Waiting for a signal…",
                            metadata: ["reader": "\(reader)", "error": "\(error)"]
                        )
                    } catch {
                        let code = (error as? StorageError)?.code ?? .inputOutput
                        logger.log(
                            level: code == failure || error.isOfEndedTest ? .debug : .warning,
                            "Changes could not be read. Retrying…",
                            metadata: ["reader": "\(reader)", "error": "\(error)"]
                        )
                        failure = code
                        backoff.wait { continuation.yield() }
                    }
                }
                backoff.cancel()
            }
        }
    }

    /// Catches up at each signal from now on, instead of at those of an earlier call.
    ///
    /// - Parameters:
    ///   - signals: The signals of an engine, created before the earlier ones end so that the engine goes on watching.
    ///   - ended: Called when the signals end before the follower: the engine is closed.
    package func follow(_ signals: AsyncStream<Void>, ended: (@Sendable () -> Void)? = nil) {
        let continuation = marks.continuation
        let listener = Task {
            for await _ in signals { continuation.yield() }
            if !Task.isCancelled { ended?() }
        }
        let replaced = tasks.withLock { tasks in
            if tasks.haveEnded { return listener as Task<Void, Never>? }
            defer { tasks.listener = listener }
            return tasks.listener
        }
        replaced?.cancel()
    }

    /// Makes the loop catch up soon.
    package func catchUp() {
        marks.continuation.yield()
    }

    /// Ends the loop. The attempt that is running is cancelled.
    package func end() {
        marks.continuation.finish()
        let tasks = tasks.withLock { tasks in
            defer { tasks = Tasks(haveEnded: true) }
            return tasks
        }
        tasks.listener?.cancel()
        tasks.loop?.cancel()
    }
}

/// The waits between attempts.
private struct Backoff {
    private var pause = Duration.milliseconds(100)
    private var timer: Task<Void, Never>?

    /// Calls a closure after a pause, which doubles each time.
    mutating func wait(then next: @escaping @Sendable () -> Void) {
        timer = Task { [pause] in
            do { try await Task.sleep(for: pause) } catch { return }
            next()
        }
        pause = min(pause * 2, .seconds(60))
    }

    func cancel() { timer?.cancel() }
}
