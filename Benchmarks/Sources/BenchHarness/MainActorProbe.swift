import Foundation

/// Finds out for how long the main actor could not run other work while something happens.
///
/// The probe is a chain of tasks on the main actor, of which each does nothing but start the next; what it measures is
/// how long that takes to get its turn. Turns that come later than ``tolerance`` count in full, whether the main actor
/// computed or waited meanwhile. Not counted is how long its thread was ready to run and the operating system had no
/// processor for it: with all processors busy that happens to a main actor that has nothing to do, too. Where the system
/// does not tell, it counts, so that the result can be too large but not too small.
///
/// `Task.yield()` would not do: its turn comes by way of the concurrent executor, and so measures how busy that is.
@MainActor
package final class MainActorProbe {

    /// How late a turn may come. It takes some ten microseconds when there is nothing else to do.
    package nonisolated static let tolerance = Duration.microseconds(200)

    private var waits = ProcessorWaits()
    private var last: ProcessorWaits.Moment
    private var blocked = Duration.zero
    private var stopping: CheckedContinuation<Duration, Never>?

    /// Runs work and returns how long it blocked the main actor, in total.
    package static func blockedTime<Result>(
        during work: @MainActor () async throws -> Result
    ) async throws -> (time: Duration, result: Result) {
        let probe = MainActorProbe()
        probe.takeNextTurn()
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        let time = await probe.stop()
        return (time, try outcome.get())
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
        }
        last = turn
        if let stopping { return stopping.resume(returning: blocked) }
        takeNextTurn()
    }

    /// Ends with the next turn, which comes after all that waits for the main actor now.
    private func stop() async -> Duration {
        await withCheckedContinuation { stopping = $0 }
    }
}

/// How long threads were ready to run and had no processor.
private struct ProcessorWaits {
    struct Moment {
        var time: ContinuousClock.Instant
        var thread: UInt64
        /// How long the thread has waited since it began; zero where the system does not tell.
        var waited: Duration
    }

    private var files: [UInt64: FileHandle] = [:]

    /// This moment on this thread.
    mutating func now() -> Moment {
        while true {
            let (thread, before) = ofThisThread()
            let time = ContinuousClock.now
            // If it has just waited, it is not known whether before or after that time.
            if ofThisThread() == (thread, before) { return Moment(time: time, thread: thread, waited: before) }
        }
    }

    private mutating func ofThisThread() -> (thread: UInt64, waited: Duration) {
        #if canImport(Glibc)
        let thread = UInt64(pthread_self())
        #else
        let thread: UInt64 = 0
        #endif
        // The line is: nanoseconds on a processor, nanoseconds of waiting for one, number of turns.
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
