import Foundation

/// Measures how long the main actor can't run other work during an operation.
///
/// The probe is a chain of tasks on the main actor. Each task only starts the next one, and the probe measures the time
/// until the next one runs. Turns later than ``tolerance`` count in full, whether the main actor computed or waited.
/// The time in which its thread was ready to run but had no processor is subtracted: with all processors busy, an idle
/// main actor waits, too. Where the system does not report that time, it is included, so the result can be too large
/// but not too small.
///
/// `Task.yield()` would be resumed through the concurrent executor, and would measure how busy that is.
@MainActor
package final class MainActorProbe {

    /// The tolerated delay of a turn. Without other work a turn takes some ten microseconds.
    package nonisolated static let tolerance = Duration.microseconds(200)

    private var waits = ProcessorWaits()
    private var last: ProcessorWaits.Moment
    private var blocked = Duration.zero
    private var longest = Duration.zero
    private var stopping: CheckedContinuation<Void, Never>?

    /// Runs work and returns the total time in which it blocked the main actor.
    package static func blockedTime<Result>(
        during work: @MainActor () async throws -> Result
    ) async throws -> (time: Duration, result: Result) {
        let (probe, result) = try await measure(work)
        return (probe.blocked, result)
    }

    /// Runs work and returns the longest time in which one piece of it blocked the main actor.
    package static func longestTurn(during work: @MainActor () async throws -> Void) async throws -> Duration {
        try await measure(work).probe.longest
    }

    private static func measure<Result>(
        _ work: @MainActor () async throws -> Result
    ) async throws -> (probe: MainActorProbe, result: Result) {
        let probe = MainActorProbe()
        probe.takeNextTurn()
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        await probe.stop()
        return (probe, try outcome.get())
    }

    private init() {
        last = waits.now()
    }

    private func takeNextTurn() {
        Task { turn() }
    }

    private func turn() {
        let turn = waits.now()
        let late = turn.time - last.time
        if late > Self.tolerance {
            let waited = turn.thread == last.thread ? turn.waited - last.waited : .zero
            blocked += max(.zero, late - waited)
            longest = max(longest, late - waited)
        }
        last = turn
        if let stopping { return stopping.resume() }
        takeNextTurn()
    }

    /// Ends with the next turn, which comes after all work that is pending on the main actor.
    private func stop() async {
        await withCheckedContinuation { stopping = $0 }
    }
}

/// The time in which threads were ready to run but had no processor.
private struct ProcessorWaits {
    struct Moment {
        var time: ContinuousClock.Instant
        var thread: UInt64
        /// The time since the thread began; zero where the system does not report it.
        var waited: Duration
    }

    private var files: [UInt64: FileHandle] = [:]

    /// The current time and the waiting time of this thread.
    mutating func now() -> Moment {
        while true {
            let (thread, before) = ofThisThread()
            let time = ContinuousClock.now
            // If the thread has just waited, the order of that wait and this reading is unknown.
            if ofThisThread() == (thread, before) { return Moment(time: time, thread: thread, waited: before) }
        }
    }

    private mutating func ofThisThread() -> (thread: UInt64, waited: Duration) {
        #if canImport(Glibc)
        let thread = UInt64(pthread_self())
        #else
        let thread: UInt64 = 0
        #endif
        // The fields are: nanoseconds on a processor, nanoseconds of waiting for one, number of turns.
        guard let file = file(thread), (try? file.seek(toOffset: 0)) != nil, let line = try? file.read(upToCount: 100)
        else { return (thread, .zero) }
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count == 3, let waited = Int64(String(decoding: fields[1], as: UTF8.self)) else {
            return (thread, .zero)
        }
        return (thread, .nanoseconds(waited))
    }

    private mutating func file(_ thread: UInt64) -> FileHandle? {
        if let file = files[thread] { return file }
        files[thread] = FileHandle(forReadingAtPath: "/proc/thread-self/schedstat")
        return files[thread]
    }
}
